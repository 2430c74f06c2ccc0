package tuning

import (
	"fmt"
	"time"
)

// Tune says what an executor measures when it is made, to choose how work is cut.
type Tune struct {
	Decode Effort // for steps of up to 64 tokens
	Varlen Effort // for longer ones

	// Known says what was measured before, on this device by a tuner of this version: then
	// that is not measured again. A value that is no candidate counts as not known.
	Known func(key string) (value int, ok bool)

	// Chosen is told once, before the executor is made, what was chosen, in the order in which it was
	// asked for, if anything was.
	Chosen func([]Choice)
}

// Measures says that anything is to be measured.
func (t *Tune) Measures() bool { return t.Decode.Scope != Nothing || t.Varlen.Scope != Nothing }

// Effort is how much is measured.
type Effort struct {
	Scope Scope

	// Classes has a choice for each class of row counts, which the executor names. Else there is one for
	// decoding and one for longer steps.
	Classes bool
}

// Scope is which shapes of matrices are measured.
type Scope int

const (
	Nothing Scope = iota
	Largest       // the two with the most weights, with few candidates
	Every
)

// Rounds is how often each candidate runs.
func (f Effort) Rounds() int {
	switch {
	case f.Scope == Largest:
		return 5
	case f.Classes:
		return 15
	}
	return 9
}

// Longest is how long a run may take. What takes longer is not measured, and keeps the
// default.
func (f Effort) Longest() time.Duration {
	if f.Scope == Largest {
		return 20 * time.Millisecond
	}
	return 250 * time.Millisecond
}

// Choice is a figure that was chosen.
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
