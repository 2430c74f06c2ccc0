package pool

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// allowedCPUs lists the CPUs that the process may use. It is read once, before a
// thread is pinned: a thread's own list says nothing afterwards.
func allowedCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(unix.Getpid(), &set) != nil {
		return nil // not pinned then, which is slower and not wrong
	}
	var l []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			l = append(l, cpu)
		}
	}
	return l
}

// pinCaller binds the calling thread to a CPU, unless it is thread last, which
// was bound before. It answers the thread.
func pinCaller(cpu, last int) int {
	id := unix.Gettid()
	if id == last {
		return id
	}
	var set unix.CPUSet
	set.Set(cpu)
	if unix.SchedSetaffinity(0, &set) != nil {
		return last // the CPU was taken from the process: run where we may
	}
	return id
}

// yield leaves this CPU for a moment. An idle CPU takes over a thread that waits
// for another one, which sched_yield does not bring about.
func yield() {
	t := unix.Timespec{Nsec: 20_000}
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0) // woken early is as good
}
