package show

// Entry is a request as it is shown.
type Entry struct {
	Index  int // 0, 1, … in the order in which requests began
	ID     string
	Lead   string // the end of a prompt that the generated text goes on with; "": none
	MaxNew int    // tokens it may generate
	More   bool   // another sequence of the request before
}

// Event is what happened to a request: its first one says that it began, having
// no tokens, and its last one has the Result.
type Event struct {
	Entry  Entry
	Tokens int     // that came
	Text   string  // that they completed
	Result *Result // how it ended; nil: it has not
}

// Begins says whether this is a request's first event.
func (e Event) Begins() bool { return e.Tokens == 0 && e.Text == "" && e.Result == nil }

// Sink presents a run. Event is called by one goroutine; after an error only
// Close is.
type Sink interface {
	Event(Event) error
	Close() error
}
