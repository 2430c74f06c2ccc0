package engine

import "context"

// Place is where the requests of a Front are computed: the actors of an Engine, or an
// engine elsewhere. Its methods may be called from any goroutine.
type Place interface {
	// Check refuses a request that can never be served, before it is named or copied. What
	// a Front can tell by itself it has checked, but for the prompt.
	Check(o *Order) error
	// Prepare checks the rest of an order and makes what submits it. An error means that
	// it can never be served, or not now. The slices of the request are the caller's, who
	// may change them afterwards.
	Prepare(o *Order) (Submission, error)
	// Cancel ends an open request by its id, or one of its sequences, as Front.Cancel does.
	Cancel(id string)
	// Rest waits until nothing is under way, so that nothing new will come of anybody's
	// requests, or changed is closed. It tells which, or that ctx has ended.
	Rest(ctx context.Context, changed <-chan struct{}) (resting bool, err error)
}

// Order is a request on its way to a Place.
type Order struct {
	Request              // with an id when it is prepared
	More      any        // of Back.Add: what only the Place understands; nil: nothing
	Sequences []Sequence // the request's own first: the Place tells each what becomes of it

	urgent bool // of the holder of a pause
}

// Submission is an order that was checked. It is submitted once.
type Submission interface {
	// Submit sends the request. One answer comes to reply, which has room for it: nil, then
	// each sequence will end exactly once; or why it is refused, and none will. If gone is
	// closed first, none may come, and Lost says why. wait, if it is not nil, is how long
	// it may wait for room in the queue; cancelled meanwhile, the answer is ErrCancelled. An error
	// is an answer, too.
	Submit(wait context.Context) (reply <-chan error, gone <-chan struct{}, err error)
	Lost() error
	// Cancel ends a sequence of it, by its place among them, and no other request that has
	// its id by now. Before Submit it does nothing.
	Cancel(sequence int)
}
