// Package texts gives an engine words: requests whose prompts, messages, stop strings and
// forbidden words are text, and streams that tell text beside the ids.
//
// Purpose: [Service] is what the command, the gateway for clients on the network and HTTP
// generate with. [Local] does it over an engine in this process and its model's
// tokenizer; a client of an engine elsewhere is a Service, too, and leaves the words to
// the other side.
//
// A stop string ends a request in two places that find the same: a matcher in the engine,
// which ends the ids, and the session of the stream's reader, which cuts the text.
//
// A grammar keeps the ids of a request to texts that match it, by a processor that the
// engine calls; a Local keeps the grammars that were asked for last.
//
// Ownership: a Local owns its grammars and nothing else: engine and codec stay the caller's, and must outlive its
// streams. Requests are copied as far as they are kept.
//
// Concurrency: the methods of a Service may be called from any goroutine. A [Stream]
// is read by one goroutine at a time; no goroutine is started here.
package texts
