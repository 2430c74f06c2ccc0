package cpuexec

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/cpuexec/pool"
)

// Machine is what a number of threads reach together, as measured: what a step is
// compared with. Others that use the machine meanwhile lower it.
type Machine struct {
	Kernels string // whose instructions were used
	Threads int

	F32, Int8     float64   // GOP/s; a multiplication with the addition of its product is 2
	Memory, Cache Bandwidth // reading; Cache is zero where no last-level cache is known

	LastLevel int64 // size of the last-level cache in bytes, as the system says; 0: not known
}

// Bandwidth is that of reading a buffer again and again, each thread a part of its own.
type Bandwidth struct {
	Rate   float64 // GB/s, of 1e9 bytes
	Buffer int64   // bytes
}

// What is measured, each the best of so many tries of some time.
const (
	tries   = 3
	tryTime = 20 * time.Millisecond

	rounds    = 2048      // of multiplications: an assembly call stays below 20 us
	readPiece = 128 << 10 // bytes of such a call
	readSome  = 1 << 20   // between two looks at the clock

	leastBuffer = 256 << 20
	mostBuffer  = 3 << 29 // 1.5 GiB
	touchTime   = 800 * time.Millisecond
)

// MeasureMachine measures so many threads with the instructions that an executor of the
// same configuration uses, in less than two seconds. Memory is read as far as the system
// gave it in a part of that time. Errors are of class ErrConfig, kernels.ErrUnavailable or
// ErrMemory, or pool.ErrPanic.
func MeasureMachine(c Config) (Machine, error) {
	set, err := c.kernels()
	if err != nil {
		return Machine{}, err
	}
	threads := cmp.Or(c.Threads, processCPUs)
	if threads < 1 || threads > maxThreads {
		return Machine{}, fmt.Errorf("%w: Threads is %d, must be from 1 to %d", ErrConfig, threads, maxThreads)
	}
	private, last := cacheSizes()
	small, large := bufferSizes(private*int64(threads), last, availableMemory())
	a, err := newArea("measuring memory", large, true)
	if err != nil {
		return Machine{}, err
	}
	m := &measuring{set: set, rates: make([]float64, threads), parts: make([]reader, threads)}
	for id := range m.parts {
		lo, hi := share(len(a.mem)/readPiece, id, threads)
		m.parts[id].mem = a.mem[lo*readPiece : hi*readPiece]
	}
	out := Machine{Kernels: set.Name, Threads: threads, LastLevel: last}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: pinned as it may be, the thread ends here
		m.pool = pool.New(threads, c.Pin, 0)
		defer m.pool.Close()
		failed <- m.all(&out, small)
	}()
	err = errors.Join(<-failed, a.free()) // out is complete only then
	return out, err
}

// leftOf is how much of a limit is not used, 1 at least. 0: there is no limit known.
func leftOf(limit, used int64) int64 {
	if limit == 0 {
		return 0
	}
	return max(limit-used, 1)
}

// bufferSizes are those to read from the last-level cache and from memory: the first
// beyond what the threads' own caches hold together and well within the last, 0 where
// there is none such; the second beyond that cache where memory and time allow.
func bufferSizes(private, last, available int64) (small, large int64) {
	large = min(max(4*last, leastBuffer), mostBuffer)
	if available > 0 {
		large = min(large, available/4)
	}
	large = max(large/readPiece, 1) * readPiece
	small = min(16*private, last/4, large/4) / readPiece * readPiece
	if private == 0 || small < 2*private {
		return 0, large
	}
	return small, large
}

// measuring is a measurement under way.
type measuring struct {
	set   *kernels.Set
	pool  *pool.Pool
	parts []reader // of threads
	rates []float64
}

// reader is what a thread reads: as much of its share of the memory as was touched.
type reader struct {
	mem []byte
	at  int      // what it reads next
	_   [96]byte // others write theirs
}

func (m *measuring) all(out *Machine, small int64) error {
	if err := m.pool.Run(m.touch); err != nil {
		return err
	}
	each := int(small) / len(m.parts) / readPiece * readPiece
	for i := range m.parts {
		n := len(m.parts[i].mem)
		out.Memory.Buffer += int64(n)
		each = min(each, n)
	}
	out.Cache.Buffer = int64(each * len(m.parts))
	warm := func(id int) { m.read(id, each, each) } // so that the cache has what is read of it
	if err := m.pool.Run(warm); err != nil {
		return err
	}
	for _, one := range []struct {
		into *float64
		unit float64 // what a thing that is counted is
		some func(id int) float64
	}{
		{&out.Cache.Rate, 1, func(id int) float64 { return m.read(id, each, readSome) }},
		{&out.Memory.Rate, 1, func(id int) float64 { return m.read(id, len(m.parts[id].mem), readSome) }},
		{&out.F32, 2, func(int) float64 { return m.set.MulAddF32(rounds) }},
		{&out.Int8, 2, func(int) float64 { return m.set.MulAddInt8(rounds) }},
	} {
		best, err := m.best(one.some)
		if err != nil {
			return err
		}
		*one.into = one.unit * best / 1e9
	}
	return nil
}

// touch makes a thread's part of the memory real, as much as there is time for.
func (m *measuring) touch(id int) {
	p, began, at := &m.parts[id], time.Now(), 0
	for ; at < len(p.mem) && time.Since(began) < touchTime; at += readPiece {
		clear(p.mem[at:][:readPiece])
	}
	p.mem = p.mem[:at]
}

// read reads the next n bytes of the first size of a thread's part, around and around, and
// answers how many it read.
func (m *measuring) read(id, size, n int) float64 {
	if size == 0 {
		return 0
	}
	p := &m.parts[id]
	for range n / readPiece {
		if p.at >= size {
			p.at = 0
		}
		m.set.Read(p.mem[p.at:][:readPiece])
		p.at += readPiece
	}
	return float64(n / readPiece * readPiece)
}

// best is how much threads do in a second by calls that answer how much they do: the
// best of some tries.
func (m *measuring) best(some func(id int) float64) (best float64, err error) {
	for range tries {
		err := m.pool.Run(func(id int) {
			m.pool.Sync()
			began, done := time.Now(), 0.0
			for time.Since(began) < tryTime {
				done += some(id)
			}
			m.rates[id] = done / time.Since(began).Seconds()
		})
		if err != nil {
			return 0, err
		}
		sum := 0.0
		for _, r := range m.rates {
			sum += r
		}
		best = max(best, sum)
	}
	return best, nil
}
