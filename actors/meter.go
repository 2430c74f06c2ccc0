package actors

import (
	"slices"
	"sync/atomic"
	"time"
)

// Meter counts what Systems do, one after the other: its sums go on, its gauges are those of
// the last one. Any goroutine may read it; each number is written by one actor. A step costs it
// a few atomic adds and stores.
type Meter struct {
	accepted    atomic.Int64 // sequences
	ended       [len(reasons)]atomic.Int64
	prompt      atomic.Int64 // tokens of prompts that were computed or found, each request's once
	cached      atomic.Int64 // of these, found in the prefix cache
	generated   atomic.Int64
	steps       atomic.Int64
	waits       atomic.Int64 // nanoseconds: Result.LongestWait, summed over steps
	longest     atomic.Int64 // of these, the greatest
	preemptions atomic.Int64

	line       atomic.Int64 // requests that wait for room among the open ones
	waiting    atomic.Int64 // open sequences that wait for a place in a step
	started    atomic.Int64 // those that have one
	blocks     atomic.Int64 // of the cache
	free       atomic.Int64 // of them, free or idle
	hostBlocks atomic.Int64
	hostFree   atomic.Int64
}

// reasons are all there are.
var reasons = [...]Reason{ReasonStop, ReasonLength, ReasonCancelled, ReasonDeadline, ReasonAborted, ReasonStale, ReasonFailed}

// Counts are the numbers of a Meter.
type Counts struct {
	Accepted, Open                     int64 // sequences
	Ended                              map[Reason]int64
	Prompt, Cached, Generated          int64 // tokens
	Steps, Preemptions                 int64
	Waits, LongestWait                 time.Duration // of threads for each other: the longest of each step, summed, and of all steps
	Line                               int64         // requests
	Waiting, Started                   int64         // sequences
	Blocks, Free, HostBlocks, HostFree int64
}

// Counts are the numbers by now. They are read one after the other.
func (m *Meter) Counts() Counts {
	c := Counts{Ended: make(map[Reason]int64, len(reasons)),
		Prompt: m.prompt.Load(), Cached: m.cached.Load(), Generated: m.generated.Load(), Steps: m.steps.Load(), Preemptions: m.preemptions.Load(),
		Waits: time.Duration(m.waits.Load()), LongestWait: time.Duration(m.longest.Load()),
		Line: m.line.Load(), Waiting: m.waiting.Load(), Started: m.started.Load(),
		Blocks: m.blocks.Load(), Free: m.free.Load(), HostBlocks: m.hostBlocks.Load(), HostFree: m.hostFree.Load()}
	for i, r := range reasons {
		n := m.ended[i].Load()
		c.Ended[r] = n
		c.Open -= n
	}
	c.Accepted = m.accepted.Load() // last, so that none has ended that was not accepted
	c.Open += c.Accepted
	return c
}

// step counts a step, in which a thread waited so many nanoseconds for others.
func (m *Meter) step(wait int64) {
	m.steps.Add(1)
	m.waits.Add(wait)
	m.longest.Store(max(m.longest.Load(), wait)) // the scheduler alone writes it
}

// end counts the end of a sequence.
func (m *Meter) end(r Reason) { m.ended[slices.Index(reasons[:], r)].Add(1) }

// begin is a System with an empty cache.
func (m *Meter) begin(blocks, host int) {
	m.line.Store(0)
	m.waiting.Store(0)
	m.started.Store(0)
	m.blocks.Store(int64(blocks))
	m.free.Store(int64(blocks))
	m.hostBlocks.Store(int64(host))
	m.hostFree.Store(int64(host))
}
