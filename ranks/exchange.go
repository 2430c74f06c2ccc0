package ranks

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cbactor/cbactor/cpuexec/pool"
)

// ErrLost means that a rank did not answer in time, or has given up.
var ErrLost = errors.New("ranks: a rank does not answer")

// line is what ranks write to by themselves, so that who spins on it disturbs nobody else.
const line = 128

// Exchange shows ranks each other's numbers in memory that all of them read: of this process, or
// a file that several have mapped. It begins with a line for each rank, in which its count of
// Shows is, and one that says who has given up, plus 1; then each rank has its two rooms.
type Exchange struct {
	timeout time.Duration
	memory  []byte
	members []Member
	broken  atomic.Pointer[error] // by somebody in this process
}

// Member is a rank at an Exchange, which is used by one goroutine at a time.
type Member struct {
	exchange *Exchange
	rank     int
	shown    *atomic.Uint64
	rooms    [2][]float32
	all      [2][][]float32 // of the members, which Show answers
}

// exchangeBytes is the memory of an Exchange.
func exchangeBytes(ranks, floats int) int64 {
	return int64(ranks+1)*line + int64(ranks)*2*roomBytes(floats)
}

func roomBytes(floats int) int64 { return (4*int64(floats) + line - 1) / line * line }

// NewExchange makes one for so many ranks of this process, which show up to so many numbers at a
// time. Whoever waits longer than timeout for another one gives up, and so do all.
func NewExchange(ranks, floats int, timeout time.Duration) *Exchange {
	words := make([]uint64, exchangeBytes(ranks, floats)/8+line/8)
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	skip := -uintptr(unsafe.Pointer(&words[0])) % line
	return exchangeIn(memory[skip:], ranks, floats, timeout)
}

// exchangeIn is the one in memory that is zero at first, or that other ranks use already.
func exchangeIn(memory []byte, ranks, floats int, timeout time.Duration) *Exchange {
	x := &Exchange{timeout: timeout, memory: memory, members: make([]Member, ranks)}
	room := roomBytes(floats)
	for rank := range x.members {
		m := &x.members[rank]
		m.exchange, m.rank, m.shown = x, rank, (*atomic.Uint64)(unsafe.Pointer(&memory[rank*line]))
		for side := range m.rooms {
			at := memory[int64(ranks+1)*line+int64(2*rank+side)*room:]
			m.rooms[side] = unsafe.Slice((*float32)(unsafe.Pointer(&at[0])), floats)
		}
	}
	for rank := range x.members {
		for side := range x.members[rank].all {
			for other := range x.members {
				x.members[rank].all[side] = append(x.members[rank].all[side], x.members[other].rooms[side])
			}
		}
	}
	return x
}

// Member is a rank's place.
func (x *Exchange) Member(rank int) *Member { return &x.members[rank] }

// quitter is the rank that has given up, plus 1; 0: none has.
func (x *Exchange) quitter() *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&x.memory[len(x.members)*line]))
}

// Break lets nobody wait any more, here and in other processes: Show answers err from now on, if
// it is the first; elsewhere, that a rank has given up.
func (x *Exchange) Break(rank int, err error) {
	x.broken.CompareAndSwap(nil, &err)
	x.quitter().CompareAndSwap(0, uint64(rank)+1)
}

// given is why nobody waits any more; nil: who waits goes on.
func (x *Exchange) given() error {
	if err := x.broken.Load(); err != nil {
		return *err
	}
	if q := x.quitter().Load(); q > 0 {
		return fmt.Errorf("%w: rank %d has given up", ErrLost, q-1)
	}
	return nil
}

// Room is where what is shown next is written. Two take turns: what was shown last is read by
// others while the next is written.
func (m *Member) Room() []float32 { return m.rooms[m.shown.Load()%2] }

// Show shows what Room has, waits for all others, and answers what each rank shows. It stays
// until the next Show is called.
func (m *Member) Show(int) ([][]float32, error) {
	round := m.shown.Add(1)
	for i := range m.exchange.members {
		if other := &m.exchange.members[i]; other != m {
			if err := m.await(other, round); err != nil {
				return nil, err
			}
		}
	}
	return m.all[(round-1)%2], nil
}

// looks is how often who waits looks at the clock, and whether others have given up.
const looks = 1 << 10

// await waits until another rank has shown so often.
func (m *Member) await(other *Member, round uint64) error {
	var w pool.Wait
	var began time.Time
	for i := 1; other.shown.Load() < round; i++ {
		w.Spin()
		if i%looks != 0 {
			continue
		}
		if err := m.exchange.given(); err != nil {
			return err
		}
		if began.IsZero() {
			began = time.Now()
		} else if since := time.Since(began); since > m.exchange.timeout {
			m.exchange.Break(m.rank, fmt.Errorf("%w: rank %d, for %v", ErrLost, other.rank, since.Round(time.Millisecond)))
		}
	}
	return nil
}
