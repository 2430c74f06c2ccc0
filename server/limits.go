package server

import (
	"cmp"
	"time"
)

// Limits bound what clients may take. What is zero is as DefaultLimits has it.
type Limits struct {
	Body      int64 // bytes of a request
	Calls     int   // that generate at a time; one more is refused with 429
	Sequences int   // of one call, over all of its prompts
	Adapter   int64 // bytes of the files of an adapter that is sent

	Connections int // at a time, of each listener; more wait until others are closed

	Header   time.Duration // for the header of a request to arrive
	Arrival  time.Duration // for its body
	Patience time.Duration // for a client to take what is written at a time
}

// DefaultLimits are for clients that nobody knows.
var DefaultLimits = Limits{Body: 8 << 20, Calls: 1024, Sequences: 1024, Adapter: 1 << 30, Connections: 4096, Header: 10 * time.Second, Arrival: 30 * time.Second, Patience: 30 * time.Second}

func (l Limits) filled() Limits {
	d := DefaultLimits
	return Limits{
		Body:        cmp.Or(l.Body, d.Body),
		Calls:       cmp.Or(l.Calls, d.Calls),
		Sequences:   cmp.Or(l.Sequences, d.Sequences),
		Adapter:     cmp.Or(l.Adapter, d.Adapter),
		Connections: cmp.Or(l.Connections, d.Connections),
		Header:      cmp.Or(l.Header, d.Header),
		Arrival:     cmp.Or(l.Arrival, d.Arrival),
		Patience:    cmp.Or(l.Patience, d.Patience),
	}
}

// Bounds of what one request may ask for, of OpenAI where it has them.
const (
	maxSequences = 128 // n
	maxStops     = 4
	maxBias      = 300
	maxTop       = 20 // log-probabilities beside a token's own
	maxDepth     = 100
	maxHeader    = 64 << 10
	maxName      = 128 // bytes of a request's id
	maxSeconds   = 24 * 60 * 60
	maxMoments   = 300_000 // tokens whose moments are told, as many as an engine elsewhere does
)

const (
	idleTime  = 2 * time.Minute // without a request on a connection
	graceTime = time.Second     // for what was cut off to reach its clients
)

// few refuses a call with too many sequences.
func (s *Server) few(prompt string, sequences int) error {
	if most := s.limits.Sequences; sequences > most {
		return bad(prompt, "asks for %d sequences over all prompts, at most %d may be", sequences, most)
	}
	return nil
}
