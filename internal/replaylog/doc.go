// Package replaylog is the log of a run from which its tokens can be computed again: a
// file of JSON lines, which an engine writes and `cbactor replay` reads.
//
// The first line is a Header with what tokens depend on beside weights and requests.
// Every other one is a Line: weights, before anything is computed with them; a request,
// when it is first heard of after it was accepted; one of its sequences, at its end; or
// how many lines are missing. What a sequence's cache was computed by is a list of
// Caches: a new one begins where it was computed again. A request whose cache nobody
// changed under way has one, of one run. A field that is zero or empty may be left out.
//
// Nothing is written before the first request.
//
// Ownership: a Recorder owns the writer that it was given and closes it.
//
// Concurrency: a Recorder may be used from any goroutine, and none ever waits for the
// writer: a goroutine of the Recorder's own writes, from a bounded queue. A Reader
// belongs to one goroutine.
package replaylog
