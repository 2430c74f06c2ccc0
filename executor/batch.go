package executor

import "github.com/cbactor/cbactor/sampling"

// Slot is a place for one sequence in the executor. A slot number is used again
// only after the result of the last step that names it.
type Slot int32

// NoSlot stands where no slot is meant.
const NoSlot Slot = -1

// Batch is one step. It is run in the order Admit, Tables, Copies, Rows, Retire,
// and may have no rows.
type Batch struct {
	Step   uint64 // ascending, starts at 1
	Epoch  uint32 // weight epoch every row computes with
	Admit  []Admit
	Tables []Table
	Copies []Copy
	Rows   []Row
	Masks  [][]uint64 // bitsets over the vocabulary, bit set: allowed
	Retire []Slot
}

// Admit opens a slot. IDs are all token ids known so far: the prompt, and after a
// preemption what had been generated too. The executor copies them.
type Admit struct {
	Slot      Slot
	IDs       []int32
	PromptLen int32 // leading ids that are prompt, the rest was generated
	Sampling  sampling.Params
	Seed      uint64
	Child     int32  // number of the sequence within its request, 0 for the parent
	Adapter   string // loaded by Adapters, a fork's as its parent's; "" for none
	Parent    Slot   // a fork samples its first token from this slot's logits; else NoSlot
}

// Table changes a slot's block table from Index on, in cache group Group.
type Table struct {
	Slot   Slot
	Group  int32
	Index  int32
	Blocks []int32
}

// CopyKind says where a Copy's ends are.
type CopyKind uint8

const (
	CopyFork CopyKind = iota // device block to device block
	CopyOut                  // device block to block of the host pool
	CopyIn                   // block of the host pool to device block
)

// Copy copies one block of a cache group. The copies of a Batch run one after
// another in the order given, behind the tables and before the rows: one reads
// what the copies before it and the rows of earlier steps wrote, and what it read
// may be overwritten by the copies behind it and by the rows of its own step. With
// Info.Overlap that holds for a CopyIn with respect to the next Batch alone.
//
// A block of the host pool is written by a CopyOut and read by one CopyIn, after
// which its content is lost: to be read again it must be written again.
//
// A group without a host pool refuses CopyOut and CopyIn with ErrUnsupported.
type Copy struct {
	Kind     CopyKind
	Group    int32
	From, To int32
}

// Row computes Count tokens of a slot from position Start on. Token ids are not
// named: the slot knows them, and a row whose Start+Count is one past the known
// ids takes the token that the step before will have sampled. Sample asks for a
// token after the last position. Mask is an index into Batch.Masks or -1.
// PromptLogprobs asks for the log-probabilities of the prompt's ids that follow the
// row's positions: of Start+1 to Start+Count, as far as they are prompt. A row that
// computes may always ask; one wholly behind the prompt is answered none. A prompt
// that is only scored has rows that do not sample, and is retired behind the last.
type Row struct {
	Slot           Slot
	Start, Count   int32
	Sample         bool
	Mask           int32
	PromptLogprobs bool
}

// Result is what a step produced: Rows in the order of the Batch's rows.
type Result struct {
	Step    uint64
	Rows    []RowResult
	Err     error // the whole step failed; Rows is then empty
	Compute int64 // nanoseconds from first work to last
	Tokens  int32 // tokens computed

	// LongestWait is the longest that one of the threads that compute a step waited for the
	// others, in nanoseconds, where that is long enough to be disturbing; 0: none, or not known.
	LongestWait int64
}

// RowResult is the outcome of one row. Tokens is empty for a row that did not
// sample. Err fails this row's request alone.
type RowResult struct {
	Slot   Slot
	Tokens []int32
	Drawn  []sampling.Drawn // one per token, where Tells says so of the request's Tell
	Prompt []sampling.Drawn // of the prompt's ids behind the row's positions, where the row asks
	Err    error
}

// Reset empties b for reuse, keeping its memory.
func (b *Batch) Reset() {
	clear(b.Admit) // drops references to ids
	clear(b.Tables)
	clear(b.Masks)
	*b = Batch{Admit: b.Admit[:0], Tables: b.Tables[:0], Copies: b.Copies[:0], Rows: b.Rows[:0], Masks: b.Masks[:0], Retire: b.Retire[:0]}
}

// Reset empties r for reuse, keeping its memory.
func (r *Result) Reset() {
	*r = Result{Rows: r.Rows[:0]}
}
