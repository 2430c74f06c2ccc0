package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/messages"
)

// Twenty guests generate, cancel, pause, lose their connections and come back, at random: each
// sequence ends once, without gap or repetition, as it would have alone, and nothing is left.
func TestStorm(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := serve(t, engine.Config{Executor: executor.NewEcho(executor.EchoConfig{Blocks: 200}), MaxQueueSize: 4096}, gateway.Options{Kept: time.Minute})
	var all sync.WaitGroup
	for i := range 20 {
		c := join(t, r)
		c.behind = 7
		all.Go(func() { stormy{c, rand.New(rand.NewPCG(seed, uint64(i))), i}.run(rounds) })
	}
	all.Wait()
	r.idle(t)
}

type stormy struct {
	*client
	rand *rand.Rand
	name int
}

// asked is a request of a stormy client.
type asked struct {
	id        string
	want      []int32
	streams   []uint64
	cancelled bool
}

func (s stormy) run(rounds int) {
	var open []*asked
	for i := range rounds {
		switch s.rand.IntN(6) {
		case 0, 1, 2:
			open = append(open, s.generate(i))
		case 3:
			if len(open) > 0 {
				a := open[s.rand.IntN(len(open))]
				a.cancelled = true
				s.do(&messages.Call{What: &messages.Call_Cancel{Cancel: &messages.Cancel{Id: a.id}}})
			}
		case 4:
			reply := s.ask(pause(&messages.Pause{LeaseNs: int64(20 * time.Millisecond)}))
			if err := convert.ErrorOf(reply.Error); err != nil && !is(err, engine.ErrHoldLost) { // the lease may end before
				s.t.Error(err)
			}
			if s.rand.IntN(2) == 0 { // else its lease ends
				s.ask(release(reply.GetHeld().GetHold(), ""))
			}
		case 5:
			s.reconnect(open)
		}
		if len(open) > 3 {
			s.finish(open[0])
			open = open[1:]
		}
	}
	for _, a := range open {
		s.finish(a)
	}
	s.do(&messages.Call{What: &messages.Call_Goodbye{Goodbye: &messages.Goodbye{}}})
}

func (s stormy) generate(i int) *asked {
	p, n := prompt(1+s.rand.IntN(60), s.rand.IntN(5)), 1+s.rand.IntN(80)
	a := &asked{id: fmt.Sprintf("%d-%d", s.name, i), want: executor.EchoRef(p, n, 50021, 1)}
	m := generate(a.id, p, int32(n))
	m.Request.N, m.Window, m.Request.Wait = int32(1+s.rand.IntN(3)), uint32(10+s.rand.IntN(50)), true
	for _, q := range s.do(callOf(m)).GetAccepted().GetSequences() {
		a.streams = append(a.streams, q.Stream)
	}
	return a
}

// reconnect loses the connection and takes everything up again.
func (s stormy) reconnect(open []*asked) {
	s.cut()
	s.hello()
	for _, a := range open {
		for k, stream := range a.streams {
			h := s.now(stream)
			if h.end != nil { // the acknowledgement may be lost
				s.tell(&messages.Ack{Taken: []*messages.Taken{{Stream: stream, Done: true}}})
				continue
			}
			id := a.id
			if k > 0 {
				id = fmt.Sprintf("%s/%d", a.id, k)
			}
			at := h.acked + s.rand.IntN(len(h.ids)-h.acked+1)
			s.from(stream, at)
			s.do(attach(id, uint32(at)))
		}
	}
}

// finish waits for all sequences of a request.
func (s stormy) finish(a *asked) {
	for _, stream := range a.streams {
		h := s.whole(stream)
		if whole := slices.Equal(h.ids, a.want); !whole && !(a.cancelled && slices.Equal(h.ids, a.want[:min(len(h.ids), len(a.want))])) || h.end.Reason == "failed" {
			s.t.Errorf("%s: %v (%v), want %v", a.id, h.ids, convert.ErrorOf(h.end.Error), a.want)
		}
	}
}
