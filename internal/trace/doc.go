// Package trace is the record of what happens to requests: a file of JSON lines,
// one line an event, which an engine writes and `cbactor explain` reads.
//
// The first line is a Header with the version of the format and the geometry of the
// engine; every other one is an Event. A field that is zero or empty is left out.
// Events stand in the order in which they happened. Every request has one queued
// event, the first, and one ended event, the last; between them it waits, is
// computed in chunks, and may be given up and come back. What could not be written
// in time is counted in a lost event at its place. Nothing is written before the first
// event of a request.
//
// Ownership: a Recorder owns the writer that it was given and closes it.
//
// Concurrency: a Recorder may be used from any goroutine, and none ever waits for
// the writer: a goroutine of the Recorder's own writes, from a bounded queue. A
// Reader belongs to one goroutine.
package trace
