package ranks

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/cpuexec/pool"
)

// ErrLost means that a rank did not answer in time.
var ErrLost = errors.New("ranks: a rank does not answer")

// Exchange shows ranks in one process each other's numbers: in memory that all of them read.
type Exchange struct {
	timeout time.Duration
	members []Member
	broken  atomic.Pointer[error]
}

// Member is a rank at an Exchange, which is used by one goroutine at a time.
type Member struct {
	exchange *Exchange
	rooms    [2][]float32
	all      [2][][]float32 // of the members, which Show answers
	_        [64]byte       // others spin on what follows
	shown    atomic.Uint64  // times
	_        [56]byte
}

// NewExchange makes one for so many ranks, which show up to so many numbers at a time. Whoever
// waits longer than timeout for another one gives up, and so do all.
func NewExchange(ranks, floats int, timeout time.Duration) *Exchange {
	x := &Exchange{timeout: timeout, members: make([]Member, ranks)}
	for i := range x.members {
		m := &x.members[i]
		m.exchange, m.rooms = x, [2][]float32{make([]float32, floats), make([]float32, floats)}
	}
	for i := range x.members {
		for side := range x.members[i].all {
			for j := range x.members {
				x.members[i].all[side] = append(x.members[i].all[side], x.members[j].rooms[side])
			}
		}
	}
	return x
}

// exchangeBytes is the memory of one.
func exchangeBytes(ranks, floats int) int64 { return int64(ranks) * 2 * 4 * int64(floats) }

// Member is a rank's place.
func (x *Exchange) Member(rank int) *Member { return &x.members[rank] }

// Break lets nobody wait any more: Show answers err from now on, if it is the first.
func (x *Exchange) Break(err error) { x.broken.CompareAndSwap(nil, &err) }

// Room is where what is shown next is written. Two take turns: what was shown last is read by
// others while the next is written.
func (m *Member) Room() []float32 { return m.rooms[m.shown.Load()%2] }

// Show shows what Room has, waits for all others, and answers what each rank shows. It stays
// until the next Show has returned.
func (m *Member) Show(int) ([][]float32, error) {
	round := m.shown.Add(1)
	for i := range m.exchange.members {
		if other := &m.exchange.members[i]; other != m {
			if err := m.exchange.await(other, i, round); err != nil {
				return nil, err
			}
		}
	}
	return m.all[(round-1)%2], nil
}

// looks is how often who waits looks at the clock, and whether the others have given up.
const looks = 1 << 10

// await waits until a rank has shown so often.
func (x *Exchange) await(m *Member, rank int, round uint64) error {
	var w pool.Wait
	var began time.Time
	for i := 1; m.shown.Load() < round; i++ {
		w.Spin()
		if i%looks != 0 {
			continue
		}
		if err := x.broken.Load(); err != nil {
			return *err
		}
		if began.IsZero() {
			began = time.Now()
		} else if since := time.Since(began); since > x.timeout {
			x.Break(fmt.Errorf("%w: rank %d, for %v", ErrLost, rank, since.Round(time.Millisecond)))
		}
	}
	return nil
}
