package actors

import (
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
}

// Cancel ends a request. An id that is unknown or ended is harmless. With a Sink it
// ends that sink's request only: its id may be another request's by now.
type Cancel struct {
	ID   string
	Sink Sink
}

// Sink gets what becomes of a request: tokens, then exactly one End. It is called
// on the intake actor's goroutine and must not block; ids are valid during the call.
type Sink interface {
	Tokens(ids []int32)
	End(End)
}

// End is a request's last word.
type End struct {
	Reason      Reason
	Err         error // with ReasonFailed
	Cached      int   // prompt tokens taken from shared blocks
	Preemptions int
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

func (*peers) ControlMessage() {}
func (*fatal) ControlMessage() {}
