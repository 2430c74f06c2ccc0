// Package figures keeps what the tuner of an executor has measured on this machine's CPU or GPU.
//
// Purpose: a start measures only what no start before has. There is a file for each kind of
// device and version of its tuner, so that machines can share a folder. One that is broken, too
// large or of another device or version counts as empty, and is replaced when something was
// measured. It is written beside its place and moved there, so that readers see the one or
// the other whole; of two processes that write at once, the figures of one are measured again.
//
// Ownership: a Store belongs to who opened it; the file to nobody, and may be removed.
//
// Concurrency: a Store may be used from any goroutine.
package figures
