package gateway

import (
	"cmp"
	"crypto/tls"
	"time"

	"github.com/rs/zerolog"
)

// Options say whom a Gateway serves. What is zero is as DefaultKept and DefaultLimits have it.
type Options struct {
	Listen string      // host:port; port 0: a free one
	TLS    *tls.Config // nil: on loopback alone
	Name   string      // of this run of the engine: no other run has it; "": a random one

	Kept   time.Duration // how long a guest is kept without a connection
	Limits Limits

	Ends        []int32 // ids that end a text, which clients are told of
	Recommended []byte  // generation_config.json of the model, likewise

	Log zerolog.Logger
}

// Limits bound what guests may have.
type Limits struct {
	Guests         int   // at a time
	IdentityGuests int   // of them, those that show the same certificate
	IdentityBytes  int64 // of all that these have, as far as it is bounded below; without TLS: of all guests
	AllBytes       int64 // likewise, of all guests

	Sequences int   // of a guest, open or not read to their end
	Unread    int   // bytes of these, about, that were read from the engine and not taken
	Calls     int   // of a guest, under way
	CallBytes int   // of these calls
	Answers   int   // bytes of answers that a guest has not said to have
	Holds     int   // of a guest; as many that were lost are remembered
	Adapters  int64 // bytes of files of adapters that a guest is sending
	Chunk     int   // bytes of data in a call or an answer
	Chunks    int   // calls with data of a guest, under way

	Silence time.Duration // for which nothing may come of an update in place: the second time all waits for it
}

// DefaultKept is how long a guest is kept without a connection.
const DefaultKept = time.Minute

// DefaultLimits are for clients that somebody knows.
var DefaultLimits = Limits{
	Guests: 256, IdentityGuests: 128, IdentityBytes: 2 << 30, AllBytes: 8 << 30,
	Sequences: 1 << 14, Unread: 256 << 20, Calls: 1 << 14, CallBytes: 64 << 20, Answers: 64 << 20,
	Holds: 16, Adapters: 1 << 30, Chunk: 1 << 20, Chunks: 16, Silence: 30 * time.Second,
}

func (l Limits) filled() Limits {
	d := DefaultLimits
	return Limits{
		Guests:         cmp.Or(l.Guests, d.Guests),
		IdentityGuests: cmp.Or(l.IdentityGuests, d.IdentityGuests),
		IdentityBytes:  cmp.Or(l.IdentityBytes, d.IdentityBytes),
		AllBytes:       cmp.Or(l.AllBytes, d.AllBytes),

		Sequences: cmp.Or(l.Sequences, d.Sequences),
		Unread:    cmp.Or(l.Unread, d.Unread),
		Calls:     cmp.Or(l.Calls, d.Calls),
		CallBytes: cmp.Or(l.CallBytes, d.CallBytes),
		Answers:   cmp.Or(l.Answers, d.Answers),
		Holds:     cmp.Or(l.Holds, d.Holds),
		Adapters:  cmp.Or(l.Adapters, d.Adapters),
		Chunk:     cmp.Or(l.Chunk, d.Chunk),
		Chunks:    cmp.Or(l.Chunks, d.Chunks),
		Silence:   cmp.Or(l.Silence, d.Silence),
	}
}
