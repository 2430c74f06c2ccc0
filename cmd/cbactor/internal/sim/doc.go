// Package sim runs the scheduler and the books of the cache over the ECHO executor
// in virtual time: what would wait, be given up, move and be shared under a load,
// without a model and much faster than with one. Every token is checked against the
// plain function, so a run is a test too.
//
// Ownership and concurrency: a Run belongs to one goroutine and keeps nothing
// outside; equal settings give equal reports.
package sim
