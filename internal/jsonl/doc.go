// Package jsonl writes and reads files of lines that a process writes as things happen:
// traces and replay logs.
//
// Purpose: whoever tells of what happens never waits for the file. What could not be
// written in time is counted in a line at its place, and an error ends the file alone. A
// file of a process that was killed ends with a part of a line, which is told from a
// line that is wrong by its missing end. Lines are bounded when they are read, since ids
// and errors in them come from outside.
//
// Ownership: a Writer owns the file that it was given and closes it. A Lines is its
// reader's.
//
// Concurrency: a Writer may be used from any goroutine; one of its own writes, from a
// bounded queue. A Lines belongs to one goroutine.
package jsonl
