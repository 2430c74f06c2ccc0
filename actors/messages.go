package actors

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/sched"
)

// Reason says why a request ended.
type Reason string

const (
	ReasonStop      Reason = "stop"
	ReasonLength    Reason = "length"
	ReasonCancelled Reason = "cancelled"
	ReasonDeadline  Reason = "deadline"
	ReasonAborted   Reason = "aborted" // by a pause, or by the policy of a commit
	ReasonStale     Reason = "stale"   // its weights became too old
	ReasonFailed    Reason = "failed"
)

// Submit asks intake to take a request in. Reply, with room for one, gets nil or
// why not. IDs belongs to the engine from then on.
type Submit struct {
	ID       string
	IDs      []int32
	MaxNew   int // 0: until the context is full
	EOS      []int32
	Sampling sampling.Params
	Seed     uint64
	Sink     Sink
	Children []Sink // of more sequences of the prompt, with ids ID/1, ID/2, …
	Priority int32
	Reply    chan<- error
	Wait     context.Context // as long as it has not ended it waits for room, behind all who wait already: the Reply comes when it is accepted; nil: it does not wait
	Adapter  string          // one that is loaded; "": none
	Salt     uint64          // shares cache blocks only with requests of the same

	Score      bool           // MaxNew is 0 and means it: the prompt is computed, nothing is drawn
	KV         sched.KV       // what becomes of it at a commit
	Version    uint32         // of the weights that may compute it, at least, see sched.Commit
	Commits    int32          // that end it, counted from its first token; 0: none do
	Private    bool           // takes no shared cache blocks and leaves none
	Urgent     bool           // of the holder of a pause: goes on in it, before all others
	Stop       func() Matcher // makes the matcher of each sequence; nil: none
	Deadline   time.Duration  // from now to the end; 0: none
	FirstToken time.Duration  // from now to the first token; 0: none

	form     *sched.Submit // nil: not checked yet. Its key is intake's to give
	matchers []Matcher     // one for each sequence, nil: it has none
	cut      []bool        // which sequences were cancelled while it waited, nil: none
}

func (m *Submit) sequences() int { return 1 + len(m.Children) }

// Matcher finds the end of a request in its tokens, as stop strings do. It is called
// on the intake actor's goroutine, which serves all requests: it must not block nor wait
// for the engine.
type Matcher interface {
	// Match takes the next ids. When one of them ends the request it answers how many
	// of these ids belong to it, else a negative number.
	Match(ids []int32) int
}

// Cancel ends a request. An id that is unknown or ended is harmless. With a Sink it
// ends that sink's request only: its id may be another request's by now. Who waits for
// room gets ErrCancelled.
type Cancel struct {
	ID   string
	Sink Sink
}

// UnloadAdapter frees an adapter's place when nobody has it any more. No request that
// names it is submitted behind it. Done is told how that went, on an actor's goroutine.
type UnloadAdapter struct {
	Name string
	Done func(error)
}

// Sink gets what becomes of a request: tokens, then exactly one End. It is called
// on the intake actor's goroutine and must not block; what it is given is valid during the call.
type Sink interface {
	Started() // it runs for the first time
	Tokens(News)
	End(End)
}

// News is what a step brought to a request. It is valid during the call only.
type News struct {
	IDs    []int32
	Drawn  []sampling.Drawn // one per id, where asked for
	Prompt []sampling.Drawn // of the prompt's next ids, from the second on, where asked for
	Epoch  uint32           // of the weights that sampled IDs
	Cache  Cache            // that they came from
}

// Cache says which weights computed Context positions of a sequence. Its runs are never
// written to: they may be kept.
type Cache struct {
	Runs    []sched.Run
	Context int
}

// End is a request's last word.
type End struct {
	Reason      Reason
	Err         error // with ReasonFailed
	Matched     bool  // the request's Matcher ended it
	Cached      int   // prompt tokens taken from shared blocks
	Preemptions int
	Cache       Cache // as far as it is known
}

// peers tells a child who the others are, before anything else.
type peers struct {
	supervisor, intake, scheduler, blocks, swap, executor *actor.PID
}

// fatal tells the supervisor that the engine cannot go on.
type fatal struct {
	who string
	err error
}

// cancelKey tells the scheduler that intake has ended a request.
type cancelKey struct{ key sched.Key }

// resume asks the supervisor for another session. The answer comes in a channel with
// room for one.
type resume struct{ answer chan<- resumed }

type resumed struct {
	running bool // a session runs that no stop ends
	ending  bool // no session will
}

// obey asks the supervisor to close done when it has obeyed all commands before.
type obey struct{ done chan<- struct{} }

// ahead carries what a step waits for, so that it does not wait behind requests that
// queue, however many they are.
type ahead[T any] struct{ it *T }

func (ahead[T]) ControlMessage() {}
func (*begun) ControlMessage()   {} // in order with tokens
func (*resume) ControlMessage()  {}
func (*obey) ControlMessage()    {}
func (*peers) ControlMessage()   {}
func (*fatal) ControlMessage()   {}
