package trace

import "time"

// Version is the version of the format.
const Version = 1

// Header is the first line of a trace.
type Header struct {
	Version    int       `json:"cbactor_trace"`
	Start      time.Time `json:"start"` // what Micros of the events counts from
	PageSize   int       `json:"page_size"`
	Blocks     int       `json:"blocks"`
	HostBlocks int       `json:"host_blocks,omitempty"`
	Slots      int       `json:"slots"`
	StepTokens int       `json:"step_tokens"` // most tokens of a step
}

// Kind says what happened.
type Kind string

const (
	Queued    Kind = "queued"    // accepted: Prompt, MaxNew, Ahead, and Of for a further sequence of a request
	Waits     Kind = "waits"     // not in a step, for another reason than before: Why, On, Missing
	Started   Kind = "started"   // Step, Cached
	Chunk     Kind = "chunk"     // positions computed: Step, Epoch, Start, Count, Blocks, Rows, Tokens
	First     Kind = "first"     // the first token is known: Step
	Preempted Kind = "preempted" // its cache was given up: Step, For or Why, How, Blocks
	Back      Kind = "back"      // started again: Step, Cached, FromHost
	Forked    Kind = "forked"    // started from another sequence's cache: Step, Of, Cached
	Ended     Kind = "ended"     // Reason, Matched, Tokens, Cached, Preemptions, FirstMicros, Error

	Mode    Kind = "mode"    // the engine's mode, for all requests, or how many hold its pause: Mode, Holders
	Weights Kind = "weights" // what the steps from here on compute with, for all requests: Epoch, Version
	Lost    Kind = "lost"    // so many events are missing here: Count
)

// Why says why a request is not in a step.
type Why string

const (
	NoSlot Why = "slot"   // as many requests run as may
	NoRoom Why = "room"   // Missing blocks are missing
	Behind Why = "behind" // the older On waits for room
	Page   Why = "page"   // On computes the page that comes next
	Budget Why = "budget" // the tokens or cache reads of the step are used up

	Emptied Why = "emptied" // of one that is given up: the whole cache was
	Renewed Why = "weights" // likewise: its cache was of weights before
)

// How says what became of the cache of a request that was given up.
type How string

const (
	Recompute How = "recompute" // dropped: to be computed again
	ToHost    How = "host"      // moved to the host pool
)

// Event is one line. Which fields it has depends on its Kind.
type Event struct {
	Micros int64  `json:"us"` // microseconds from the start of the trace
	Kind   Kind   `json:"event"`
	ID     string `json:"id,omitempty"`

	Prompt int    `json:"prompt,omitempty"`  // tokens of the prompt
	MaxNew int    `json:"max_new,omitempty"` // most tokens to generate, as admitted
	Ahead  int    `json:"ahead,omitempty"`   // requests that wait when this one comes
	Of     string `json:"of,omitempty"`      // first sequence of the request; the one forked

	Why     Why    `json:"why,omitempty"`
	On      string `json:"on,omitempty"`      // the request waited for
	Missing int    `json:"missing,omitempty"` // blocks, when the wait began

	Step     uint64 `json:"step,omitempty"`
	Epoch    uint32 `json:"epoch,omitempty"`     // of the weights
	Start    int    `json:"start,omitempty"`     // first position computed
	Count    int    `json:"count,omitempty"`     // positions computed; events lost
	Blocks   int    `json:"blocks,omitempty"`    // gained with a chunk, shared ones too, or given up
	Rows     int    `json:"rows,omitempty"`      // sequences in the step
	Tokens   int    `json:"tokens,omitempty"`    // positions in the step; with Ended: tokens generated
	Cached   int    `json:"cached,omitempty"`    // positions found in shared blocks
	FromHost int    `json:"from_host,omitempty"` // positions copied from the host pool

	For         string `json:"for,omitempty"` // the request that needed its blocks
	How         How    `json:"how,omitempty"`
	Preemptions int    `json:"preemptions,omitempty"`

	Reason      string `json:"reason,omitempty"`   // as the request's finish reason
	Matched     bool   `json:"matched,omitempty"`  // ended by a match in its tokens, as of a stop string
	FirstMicros int64  `json:"first_us,omitempty"` // from queued to the first token
	Error       string `json:"error,omitempty"`
	Mode        string `json:"mode,omitempty"`
	Holders     int    `json:"holders,omitempty"` // of a pause
	Version     string `json:"version,omitempty"` // of the weights
}
