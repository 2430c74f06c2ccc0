package sched

import (
	"slices"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// Key names a request for the scheduler's and intake's eyes. Keys ascend in the
// order of admission: a smaller key is older.
type Key uint64

// Finish says why a sequence ended; Running is no end.
type Finish uint8

const (
	Running Finish = iota
	Stop           // an end-of-sequence or stop id, the last token
	Length         // the limit on new tokens, or the context, is reached
	Failed         // see the error
	Aborted        // a commit ended it, whose policy is Abort
	Stale          // its weights are too old, see Submit.Commits and Submit.Version
)

// Submit brings a request.
type Submit struct {
	Key      Key
	N        int32   // sequences of the prompt, under the keys from Key on; 0 is 1
	Priority int32   // with policy Priority: higher goes first
	IDs      []int32 // the prompt, at least one
	MaxNew   int32   // 0: the prompt is computed and nothing drawn, which is for one sequence only
	Private  bool    // takes no shared blocks and leaves none
	Salt     uint64  // shares blocks only with requests of the same
	Adapter  string  // "": none
	Urgent   bool    // goes before all others, also while they are paused, and takes their cache
	EOS      []int32 // ids that end it
	Sampling sampling.Params
	Seed     uint64
	KV       KV     // what becomes of it at a commit
	Version  uint32 // of the weights that may compute it, at least; see Commit
	Commits  int32  // that end it, counted from its first token; 0: no number of them does
}

// noToken stands where the first token of a sequence is not known yet.
const noToken = -1

type state uint8

const (
	waiting state = iota // in the queue, holds no cache
	offered              // waiting, and known to blocks: holds a slot, but no cache
	started              // holds a slot and cache, the executor knows it
	leaving              // given up while a step was in flight: its tokens count, then it waits again
	unborn               // waits for its parent's last chunk, to sample from its logits
	ended
)

// seq is one sequence. Positions are numbered from 0; ids holds every token known,
// the prompt first. A step in flight will make pending more of them known.
type seq struct {
	key      Key
	rank     int64 // place in line: smaller goes first; the key, but for priorities
	state    state
	ids      []int32
	prompt   int32
	limit    int32 // most ids: prompt and new tokens
	eos      []int32
	private  bool // takes no shared blocks and leaves none
	salt     uint64
	adapter  string
	urgent   bool // goes before all others
	begun    bool // was started, or is to be forked from one that was
	sampling sampling.Params
	seed     uint64
	kv       KV     // at a commit
	version  uint32 // at least
	commits  int32  // after its first token that end it, 0: none do
	child    int32  // number within its request
	parent   *seq   // of a child that is unborn
	children []*seq // unborn

	slot     executor.Slot // NoSlot while it waits
	blocks   int32         // owned, per group
	planned  int32         // positions handed over to the executor
	pending  int32         // tokens that steps in flight will sample
	lastStep uint64        // last step handed over that touches the slot, 0: none

	runs        []Run // of its cache, or of the last it had; never written to
	first       int   // commits before the batch that sampled its first token, or noToken
	hosted      int32 // blocks per group in the host pool, 0: none
	told        int32 // prompt ids whose log-probabilities were reported, from the second on
	found       int32 // tokens found in shared blocks when it last started
	cached      int32 // prompt tokens found in shared blocks when it first started
	preemptions int32
}

// length is how many ids there will be when the steps in flight are done.
func (s *seq) length() int32 { return int32(len(s.ids)) + s.pending }

// want is how many positions can be computed now: 0 when only the result of a
// step in flight is missing, 1 for a decoding sequence. A processor gets to see
// every token before the next one is drawn.
func (s *seq) want() int32 {
	if s.ending() || s.pending > 0 && s.sampling.Processor != nil {
		return 0
	}
	return s.length() - s.planned
}

// ending tells a sequence that a step in flight brings to its limit.
func (s *seq) ending() bool {
	if s.scored() {
		return s.planned == s.prompt
	}
	return s.pending > 0 && s.length() >= s.limit
}

// decodes tells a sequence whose next row is its newest token.
func (s *seq) decodes() bool { return s.planned >= s.prompt && s.want() == 1 }

// room is how many positions must fit before a sequence is started: what is known
// and one token more, but not the very last token, which is never written.
func (s *seq) room() int32 { return min(int32(len(s.ids))+1, max(s.prompt, s.limit-1)) }

// scored tells a sequence of which only the prompt is computed.
func (s *seq) scored() bool { return s.limit == s.prompt }

// untold tells that log-probabilities of the prompt are still to be reported. Of
// several sequences the first reports them.
func (s *seq) untold() bool { return s.sampling.Tell.Prompt && s.child == 0 && s.told < s.prompt-1 }

// mayMatch tells that shared blocks may be taken for its beginning: what is found
// there is not computed, so nothing would be known of it.
func (s *seq) mayMatch() bool { return !s.private && !s.untold() }

// asks tells that a row of positions from start to before end computes log-probabilities
// of the prompt that were not reported. Position p gives that of id p+1.
func (s *seq) asks(start, end int32) bool {
	return s.untold() && start < s.prompt-1 && end > s.told
}

// hear takes log-probabilities of the prompt from a row that starts at start, and
// answers those that were not reported before.
func (s *seq) hear(start int32, prompt []sampling.Drawn) []sampling.Drawn {
	if known := s.told - start; known < int32(len(prompt)) {
		s.told = start + int32(len(prompt))
		return prompt[known:]
	}
	return nil
}

// accept makes sampled tokens known, up to one that ends the sequence, and says
// how many were taken.
func (s *seq) accept(tokens []int32) (taken int, f Finish) {
	for i, id := range tokens {
		s.ids = append(s.ids, id)
		if slices.Contains(s.eos, id) {
			return i + 1, Stop
		}
		if int32(len(s.ids)) >= s.limit {
			return i + 1, Length
		}
	}
	return len(tokens), Running
}
