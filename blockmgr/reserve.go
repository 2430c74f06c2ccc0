package blockmgr

// Slot is a sequence's place; the numbers are the executor's.
type Slot = int32

// Reserve is what the scheduler asks once a step. Manager applies it in this
// order: Done, Release, Candidates (which may take Victims).
type Reserve struct {
	Step       uint64 // the step being planned
	Epoch      uint32 // weight epoch the step will compute with
	DoneStep   uint64 // every step up to this one is done
	Budget     Budget // what the candidates may use together
	Open       []Open
	Done       []Done
	Release    []Release
	Candidates []Candidate // in order of precedence
	Victims    []Victim    // in order of sacrifice
}

// Budget bounds the rows that are granted.
type Budget struct {
	Tokens int32
	Rows   int32
}

// Open makes a slot known before its first candidacy. IDs are the sequence's
// known tokens; they belong to the scheduler and are only read during the call.
type Open struct {
	Slot Slot
	IDs  []int32
	Salt uint64
}

// Done reports that a step wrote a slot's cache up to Written positions.
type Done struct {
	Slot    Slot
	Step    uint64
	Written int32
	IDs     []int32 // ids that became known with the step
}

// Release closes a slot. Its blocks drain until step After is done.
type Release struct {
	Slot  Slot
	After uint64
}

// Candidate is a row that needs cache: Want tokens from Position on.
type Candidate struct {
	Slot       Slot
	Position   int32
	Want       int32
	MayPreempt bool // Victims may be taken for it, those that stand before its own slot
}

// How says what becomes of a victim's cache.
type How uint8

// Recompute drops a victim's blocks: its tokens are computed again.
const Recompute How = 0

// Victim is a slot that may be given up. After is the last step that touches it.
type Victim struct {
	Slot  Slot
	How   How
	After uint64
}

// Reserved is the answer.
type Reserved struct {
	Step      uint64
	Grants    []Grant // in the order of the candidates
	Refused   []Refusal
	Preempted []Preempted
	Free      int // blocks free now in the scarcest group
}

// Grant lets a slot compute Count tokens from Start on. New lists the blocks
// that the row adds to the slot's tables.
type Grant struct {
	Slot         Slot
	Start, Count int32
	New          []Added
}

// Added extends a slot's table of one group from Index on.
type Added struct {
	Group, Index int32
	Blocks       []int32
}

// Refusal says how many blocks a candidate lacked; 0: the budget was used up.
type Refusal struct {
	Slot    Slot
	Missing int32
}

// Preempted says that a victim was taken; its slot is closed.
type Preempted struct {
	Slot Slot
	How  How
}

// Reset empties r for reuse, keeping its memory.
func (r *Reserve) Reset() {
	clear(r.Open)
	*r = Reserve{Open: r.Open[:0], Done: r.Done[:0], Release: r.Release[:0], Candidates: r.Candidates[:0], Victims: r.Victims[:0]}
}

func (r *Reserved) reset(step uint64) {
	*r = Reserved{Step: step, Grants: r.Grants[:0], Refused: r.Refused[:0], Preempted: r.Preempted[:0]}
}
