package blockmgr

// Slot is a sequence's place; the numbers are the executor's.
type Slot = int32

// Reserve is what the scheduler asks once a step. Manager applies it in this
// order: Forks, Done, Release, Empty, Open, Candidates (which may take Victims).
type Reserve struct {
	Step       uint64  // the step being planned
	Epoch      uint32  // weight epoch the step will compute with
	DoneStep   uint64  // every step up to this one is done
	Budget     Budget  // what the candidates may use together
	Margin     float64 // share of each group's blocks that a new sequence leaves free for the growth of others
	Forks      []Fork
	Open       []Open
	Done       []Done
	Release    []Release
	Empty      bool        // nothing published is found any more; no slot may hold blocks
	Candidates []Candidate // in order of precedence
	Victims    []Victim    // in order of sacrifice: the first that stands behind a candidate in line goes for it
}

// Budget bounds the rows that are granted together.
type Budget struct {
	Tokens int32
	Rows   int32
	Taken  int32 // rows of the step that are decided already, beside these
	Reads  int32 // cache positions that they read, those before each row's first token; 0: any number, less: none are left. The first row of a step always goes
}

// Open makes a slot known before its first candidacy. IDs are the sequence's
// known tokens; they belong to the scheduler and are copied. Sequences of
// different Salt share nothing. What a Private one computes is not published.
type Open struct {
	Slot    Slot
	IDs     []int32
	Salt    uint64
	Private bool
}

// Fork makes Slot a second owner of Parent's blocks, which hold the same IDs, the
// parent's prompt. The last one, if it is not full, is copied when Slot is first
// granted a row.
type Fork struct {
	Slot, Parent Slot
	IDs          []int32
}

// Done reports that a step wrote a slot's cache up to Written positions. Pages
// that are full now are published.
type Done struct {
	Slot    Slot
	Epoch   uint32 // the weight epoch that the step computed with
	Written int32
	IDs     []int32 // ids that became known with the step
}

// Release closes a slot. Its blocks drain until step After is done.
type Release struct {
	Slot  Slot
	After uint64
}

// Candidate is a row that needs cache: at most Want tokens from Position on.
//
// A candidate that is not yet started (its table is empty) starts only when Room tokens
// fit beside what the started ones still need for theirs, and the margin; no such
// candidate passes one that was refused. One that comes
// from the host pool and wants 0 gets the blocks for what it has there, to compute
// in a later step: it uses up nothing of the budget.
type Candidate struct {
	Slot       Slot
	Position   int32
	Want       int32
	Room       int32
	MayMatch   bool   // shared blocks may be taken for its beginning
	FromHost   bool   // the cache up to Position comes from the host pool: it needs blocks too
	Epoch      uint32 // with FromHost: the weight epoch that computed it, 0: several did
	MayPreempt bool   // Victims may be taken for it, those behind its Place
	Place      int32  // in line: a smaller one is older
}

// How says what becomes of a victim's cache.
type How uint8

const (
	// Recompute drops a victim's blocks: its tokens are computed again, as far as
	// they are not found published.
	Recompute How = iota
	// ToHost has a victim's blocks copied to the host pool, before the rows of the
	// step that is planned.
	ToHost
)

// Victim is a slot that may be given up for a candidate whose Place in line is smaller.
// After is the last step that touches it.
type Victim struct {
	Slot  Slot
	Place int32
	How   How
	After uint64
}

// Reserved is the answer.
type Reserved struct {
	Step      uint64
	Grants    []Grant // in the order of the candidates
	Waits     []Wait
	Refused   []Refusal
	Preempted []Preempted
	Copies    []Copy // to be made before the step's rows
	Free      int    // blocks that are free or idle now, as many as all groups can have at the same time
}

// Grant lets a slot compute Count tokens from Start on. The Matched tokens before
// them were found in shared blocks. New lists the blocks that the slot's tables
// gain, shared ones too.
type Grant struct {
	Slot         Slot
	Matched      int32
	Start, Count int32
	New          []Added
}

// Added extends a slot's table of one group from Index on. A table of a group with a
// window may begin later than at 0.
type Added struct {
	Group, Index int32
	Blocks       []int32
}

// Copy says that block From of a group is copied to block To for a slot's grant.
// From drains until the step is done, even if the copy is not made.
type Copy struct {
	Slot            Slot
	Group, From, To int32
}

// Wait says that the candidate's next page is being computed in slot On.
type Wait struct{ Slot, On Slot }

// Refusal says how many blocks a candidate lacked; 0: the budget was used up, or
// an older one lacks blocks.
type Refusal struct {
	Slot    Slot
	Missing int32
}

// Preempted says that a victim was taken for a candidate; its slot is closed. With
// ToHost, Blocks are what it had, to be copied. Where groups share sectors, a
// candidate that lacks blocks although nobody else is left may be its own victim.
type Preempted struct {
	Slot   Slot
	For    Slot
	How    How
	Had    int32 // blocks that it had, in its longest table
	Blocks []Added
}

// Reset empties r for reuse, keeping its memory.
func (r *Reserve) Reset() {
	clear(r.Forks)
	clear(r.Open)
	clear(r.Done)
	*r = Reserve{Forks: r.Forks[:0], Open: r.Open[:0], Done: r.Done[:0], Release: r.Release[:0], Candidates: r.Candidates[:0], Victims: r.Victims[:0]}
}

func (r *Reserved) reset(step uint64) {
	*r = Reserved{Step: step, Grants: r.Grants[:0], Waits: r.Waits[:0], Refused: r.Refused[:0], Preempted: r.Preempted[:0], Copies: r.Copies[:0]}
}
