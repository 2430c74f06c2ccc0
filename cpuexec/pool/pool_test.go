package pool

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(5) // more than threads of a pool: one that spins holds its P
	goleak.VerifyTestMain(m)
}

// TestSync lets every thread read what the others wrote before the barrier, over
// parked and spinning starts.
func TestSync(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		p := New(n, false, 0)
		written := make([]int, n)
		for round := range 60 {
			err := p.Run(func(id int) {
				for range 5 {
					written[id]++
					p.Sync()
					for other, w := range written {
						if w != written[id] {
							t.Errorf("round %d: thread %d wrote %d, %d sees %d", round, id, written[id], other, w)
						}
					}
					p.Sync()
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if round%20 == 0 {
				time.Sleep(time.Millisecond) // let them park
			}
			p.SetBusy(round%2 == 0)
		}
		p.Close()
		p.Close()
	}
}

// TestPanic breaks each thread in turn while the others wait for it, and goes on.
func TestPanic(t *testing.T) {
	p := New(3, false, 0)
	defer p.Close()
	for bad := range 3 {
		err := p.Run(func(id int) {
			p.Sync()
			if id == bad {
				panic("on purpose")
			}
			p.Sync()
		})
		if !errors.Is(err, ErrPanic) || err.Error() != "pool: a thread panicked: on purpose" {
			t.Fatalf("thread %d: %v", bad, err)
		}
		if err := p.Run(func(int) { p.Sync() }); err != nil {
			t.Fatalf("after thread %d: %v", bad, err)
		}
	}
}

// TestLongestWait lets each thread in turn be late, at a barrier and at the end.
func TestLongestWait(t *testing.T) {
	const late = 40 * time.Millisecond
	p := New(3, false, 0)
	defer p.Close()
	run := func(run func(func(int)) error, fn func(id int)) (wait, took time.Duration) {
		began := time.Now()
		if err := run(fn); err != nil {
			t.Fatal(err)
		}
		return p.LongestWait(), time.Since(began)
	}
	for slow := range 3 {
		for _, atEnd := range []bool{false, true} {
			if atEnd && slow == 0 {
				continue // nobody waits for the caller then
			}
			wait, took := run(p.Run, func(id int) {
				if id == slow {
					time.Sleep(late)
				}
				if !atEnd {
					p.Sync()
				}
			})
			if wait < late/2 || wait > took { // spinning takes longer on a busy machine
				t.Errorf("thread %d late, at the end %v: the longest wait is %s of %s", slow, atEnd, wait, took)
			}
			if wait, took := run(p.Run, func(int) { p.Sync() }); wait > took {
				t.Errorf("behind it, in a Run of %s one waited %s", took, wait)
			}
		}
	}
	if wait, _ := run(p.RunAlone, func(int) { time.Sleep(time.Millisecond) }); wait != 0 {
		t.Errorf("a thread alone waited %s", wait)
	}
}

// TestRunAllocatesNothing counts by itself: testing.AllocsPerRun leaves one P, for
// which spinning threads then queue.
func TestRunAllocatesNothing(t *testing.T) {
	p := New(2, false, 0)
	defer p.Close()
	f := func(int) { p.Sync() }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const runs = 200
	for range runs {
		if err := p.Run(f); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > runs/10 {
		t.Errorf("%d allocations in %d Runs", n, runs)
	}
}

// TestPinned runs pinned threads; that they stay apart is the system's promise.
func TestPinned(t *testing.T) {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks: the pinned thread ends here
		p := New(2, true, 0)
		defer p.Close()
		done <- p.Run(func(int) { p.Sync() })
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSync(b *testing.B) {
	p := New(2, false, 0)
	defer p.Close()
	if err := p.Run(func(int) {
		for range b.N {
			p.Sync()
		}
	}); err != nil {
		b.Fatal(err)
	}
}
