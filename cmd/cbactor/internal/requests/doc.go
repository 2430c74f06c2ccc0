// Package requests reads the files of requests that `cbactor generate` takes,
// and the files of results that it resumes from. Both are JSON lines: an object
// a line.
//
// A request has one of "prompt" (text), "prompt_ids" (token ids) and "messages"
// (a conversation), and may have "request_id" and any [Setting]; null is the same as
// absent. One table has all settings: it makes the keys of lines, the flags of the
// command and their help. What is unknown, of a wrong type, out of range, or there
// twice is an error of that line, which names the file and the line; the lines after
// it are still read. So is an id that an earlier line has: of each id a hash of 8
// bytes is kept.
//
// A result has the id and the token ids of its request's prompt, by which it is
// known again. Of several with one id the last counts.
//
// Files may be of any length: one line is held at a time, and a line is bounded.
//
// A Reader belongs to one goroutine. What it returns belongs to the caller.
package requests
