// Package jsonl reads files of lines that a process writes as things happen: traces and
// replay logs.
//
// Purpose: a file of a process that was killed ends with a part of a line, which is told
// from a line that is wrong by its missing end. Lines are bounded, since ids and errors
// in them come from outside.
//
// Ownership and concurrency: a Lines is its reader's, on one goroutine.
package jsonl
