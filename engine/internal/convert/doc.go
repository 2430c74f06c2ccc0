// Package convert turns what an engine takes and tells into messages of package messages,
// and back: both sides of a connection use it, so that what one writes the other reads.
//
// Names: a function called like what it makes writes a message, one with Of behind it reads
// one. What writes refuses what cannot cross (ErrNotRemote) or what a message has no room for;
// what reads takes messages from anybody: numbers out of range, unknown words and contradictions
// are errors, engine.ErrParams of what asks and ErrMalformed of what answers, and what is
// allocated is never more than a small multiple of the message.
//
// Ownership: slices of numbers are shared between a value and its message, not copied. Who
// sends a message leaves them alone from then on; who has received one owns them.
//
// Concurrency: functions only.
package convert
