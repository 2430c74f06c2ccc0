package cpuexec

import (
	"time"

	"github.com/cbactor/cbactor/executor"
)

// clock notes what each thread of a step does, for a Profile. Between two marks a thread
// writes its own lap only; worker 0 does the rest while there is no other one.
type clock struct {
	profile *Profile
	laps    []lap // of threads
	calls   [Operations]int64
	began   time.Time
	experts [2]Work // what they did in this step: gate and up, down
}

// lap is where the time of a thread went in a step.
type lap struct {
	last  time.Duration // of the step, at the last mark
	spent [Operations]time.Duration

	longest time.Duration // at a barrier
	_       [128]byte     // others write theirs
}

// newClock is nil where there is no Profile.
func newClock(c *Config) *clock {
	if c.Profile == nil {
		return nil
	}
	c.Profile.follow()
	return &clock{profile: c.Profile, laps: make([]lap, c.Threads)}
}

// begin begins a step.
func (c *clock) begin(began time.Time) {
	if c == nil {
		return
	}
	c.began = began
	clear(c.laps)
	c.calls = [Operations]int64{}
	c.experts = [2]Work{}
}

// mixed counts what the experts of a layer are to do.
func (c *clock) mixed(m *mixture, l *layer) {
	if c == nil {
		return
	}
	for e, rows := range m.counts {
		if rows == 0 {
			continue
		}
		for i, w := range [2]*matrix{&l.experts[e].gateUp, &l.experts[e].down} {
			c.experts[i].add(w.ops(int64(rows)), w.passes(int(rows))*int64(len(w.panels)), w.integer())
		}
	}
}

// mark notes that thread id has done op since its last mark.
func (c *clock) mark(id int, op Operation) {
	if c == nil {
		return
	}
	now, l := time.Since(c.began), &c.laps[id]
	took := now - l.last
	l.spent[op] += took
	l.last = now
	if op == OpWait {
		l.longest = max(l.longest, took)
	}
	if id == 0 {
		c.calls[op]++
	}
}

// settle notes that all threads have done op since their last marks, or waited for it. No
// other thread computes.
func (c *clock) settle(op Operation) {
	if c == nil {
		return
	}
	now := time.Since(c.began)
	for i := range c.laps {
		l := &c.laps[i]
		l.spent[op] += now - l.last
		l.last = now
	}
	c.calls[op]++
}

// sync is a barrier behind op.
func (s *step) sync(id int, op Operation) {
	s.clock.mark(id, op)
	s.pool.Sync()
	s.clock.mark(id, OpWait)
}

// note adds the step that has ended to the profile.
func (s *step) note(b *executor.Batch) {
	c := s.clock
	if c == nil {
		return
	}
	c.settle(OpRest)
	c.profile.mu.Lock()
	defer c.profile.mu.Unlock()
	gap := time.Duration(0)
	if !c.profile.ended.IsZero() {
		gap = c.began.Sub(c.profile.ended)
	}
	if s.open == 0 {
		c.profile.ended = time.Time{}
	} else if len(s.tokens) > 0 {
		c.profile.ended = c.began.Add(c.laps[0].last)
	}
	if len(s.tokens) == 0 {
		return
	}
	k := &c.profile.kinds[kindOf(b.Rows)]
	k.Steps++
	k.Threads += int64(s.threads)
	k.Rows += int64(len(b.Rows))
	k.Tokens += int64(len(s.tokens))
	k.Time += c.laps[0].last
	for op := range k.Work {
		sum := time.Duration(0)
		for i := range s.threads {
			sum += c.laps[i].spent[op]
		}
		k.Work[op].Time += sum / time.Duration(s.threads)
		k.Work[op].Calls += c.calls[op]
	}
	for i := range s.threads {
		k.LongestWait = max(k.LongestWait, c.laps[i].longest)
	}
	s.countWork(k)
	if gap > 0 {
		k.Between += gap
		k.Gaps++
	}
}

// kindOf is the kind of a step by its rows; forks, which compute nothing, do not count.
func kindOf(rows []executor.Row) StepKind {
	one, several := false, false
	for i := range rows {
		one = one || rows[i].Count == 1
		several = several || rows[i].Count > 1
	}
	switch {
	case one && several:
		return Mixed
	case several:
		return Prefill
	}
	return Decode
}
