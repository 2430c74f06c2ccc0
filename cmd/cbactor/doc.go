// Command cbactor generates text from language models.
//
// Results go to standard output and all else to standard error: progress, logs,
// the closing summary, and errors, one line each that says what is wrong and what
// to do.
//
// The exit status is 0 when everything asked for was done; 1 when something
// failed; 2 when something was asked for wrongly: the command line, what it names, the
// environment, or the prompts; 130 after Ctrl-C and 143 after
// SIGTERM, which cancel what is open and print what there is, and end the process
// at once when they come a second time; 141 when the reader of the output has gone. A
// server that they end is done: it lets what is open end, and its status is 0, or 1
// if that took too long.
//
// Internals: a cli holds the streams of the process, and each command is a file.
// `generate` puts requests of text to a generator: an engine of this process, or with
// --connect one that `serve` has in another. It is a line of goroutines: one pulls jobs
// from the command line or a file, one feeds them to the generator, as many at a time as
// there is room for, one for each open request follows its stream, and the main one counts
// the events and presents them. Package requests reads files of requests, package show
// presents, package replay computes a recorded run again.
package main
