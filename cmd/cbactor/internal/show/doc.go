// Package show presents a run of requests: results as JSON lines or as text, and
// how far the run is as a live block on a terminal or as plain lines.
//
// A run is a sequence of Events. Each presenter is a Sink that takes them one at a
// time; a Tally counts them. Only Live and Console have state that other
// goroutines reach, behind locks.
//
// Text of a model is shown on a terminal with control characters replaced, as it
// could drive the terminal otherwise; elsewhere it is written as it is.
//
// The writers are the caller's and are not closed.
package show
