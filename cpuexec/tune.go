package cpuexec

import (
	"fmt"
	"runtime"
	"time"
)

// TunerVersion changes when what was measured by an earlier one means something else.
const TunerVersion = 2

// Tune says what New measures to choose how work is cut. No choice changes a bit of what
// is computed: which rows and panels a call of a kernel has, which positions attend
// together and how many threads share a step are no part of any sum.
type Tune struct {
	Decode Effort // rows of products in steps of up to 64 tokens
	Varlen Effort // in longer ones

	// Known says what was measured before, on this CPU by a tuner of this version: then
	// that is not measured again. A value that is no candidate counts as not known.
	Known func(key string) (value int, ok bool)

	// Chosen is told once, before New returns, what was chosen, in the order in which it was
	// asked for, if anything was.
	Chosen func([]Choice)
}

// Effort is how much is measured.
type Effort struct {
	Scope Scope

	// Classes has a choice for each class of row counts: up to 32, 64, 192 and more. Else
	// there is one for decoding and one for longer steps, as is best for 64 and 512 rows.
	// With Every, it measures too how many tokens of a prompt attend together, where Varlen
	// has it, and up to where one thread computes alone, where Decode has it.
	Classes bool
}

// Scope is which shapes of matrices are measured.
type Scope int

const (
	Nothing Scope = iota
	Largest       // the two with the most weights, with few candidates
	Every
)

// rounds is how often each candidate runs.
func (f Effort) rounds() int {
	switch {
	case f.Scope == Largest:
		return 5
	case f.Classes:
		return 15
	}
	return 9
}

// longest is how long a run may take. What takes longer is not measured, and keeps the
// default.
func (f Effort) longest() time.Duration {
	if f.Scope == Largest {
		return 20 * time.Millisecond
	}
	return 250 * time.Millisecond
}

// Choice is a figure that Tune chose.
type Choice struct {
	Key            string // what it is for
	Value, Default int
	Measured       bool // else it was known
}

// String says it in words.
func (c Choice) String() string {
	from := "known"
	if c.Measured {
		from = "measured"
	}
	return fmt.Sprintf("%s: %d (%s, default %d)", c.Key, c.Value, from, c.Default)
}

// tune chooses with w, while there is no step. It has a thread of its own, since that
// which calls New need not be the one that Config.Pin binds.
func (e *Executor) tune(w *packed) (err error) {
	c := &e.config.Tune
	if c.Decode.Scope == Nothing && c.Varlen.Scope == Nothing {
		return nil
	}
	t := &tuner{prefix: fmt.Sprintf("%s, %d threads, ", e.kernels.Name, e.config.Threads), known: c.Known, clock: elapsed}
	trials := &trials{step: e.step, table: e.tiles, tune: c}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: it may be bound
		err = trials.with(w, func() error { return trials.all(t) })
	}()
	<-done
	if c.Chosen != nil && len(t.choices) > 0 && err == nil {
		c.Chosen(t.choices)
	}
	return err
}
