// Package grammar keeps a model's text within a language: a regular expression, JSON, a
// JSON schema, one of some choices. It says at every step which tokens may come next.
//
// Purpose: [Compile] turns a [Spec] into a [Grammar] over the [Vocabulary] of a model, and
// [Grammar.NewProcessor] is what a request takes along as its sampling.Processor: it bans
// the tokens that would lead out of the language, and allows the ids that end the request
// exactly where the text may end. No text gets stuck: what cannot be finished any more,
// by the bound on nesting or because nothing matches what follows, is not begun.
//
// How: a grammar is a program over bytes with calls of rules (program.go), run as a lazy
// automaton over sets of threads with stacks (machine.go). A mask is a walk of that
// automaton over the trie of the vocabulary; what a rule accepts alone is kept by rule and
// depth, and only tokens that leave it are tried with the rules that wait (mask.go, after
// XGrammar). Most masks cost some 20 µs of applying them; the first one in a new place of
// a grammar up to a few ms.
//
// # What is known
//
// Regular expressions are RE2's, as package regexp/syntax parses them, and match a text as
// a whole. Anchors of the text work; of lines, \b, look-around and references back are
// refused.
//
// JSON is an object with anything in it. All JSON is laid out as printers do it: a space, or
// a line end with up to 40 spaces and tabs, behind {, [ and commas and before } and ], a
// space behind colons, none of these anywhere if one likes, and nothing around the whole.
// Values nest 64 deep, and some more; exponents have two digits; escapes of surrogates come in pairs. That keys are different
// from each other is not seen to, but for the properties of a schema.
//
// Of JSON schema these keywords are known: type, properties, required,
// additionalProperties, items, prefixItems, minItems, maxItems, minLength, maxLength,
// pattern, format (date, time, date-time, duration, email, hostname, ipv4, ipv6, uuid),
// minimum, maximum, exclusiveMinimum, exclusiveMaximum, enum, const, anyOf, oneOf, allOf of
// one schema, $ref within the schema (or within the part with an $id around it), and
// annotations. Anything else is refused by its
// name with [ErrUnsupported], never ignored. Every text that is written is valid; some
// that are valid are not written:
//
//   - Properties come in the order of the schema, those that it does not describe behind
//     them. Where additionalProperties is not given there are none of these, unless there
//     are no properties either.
//   - oneOf is anyOf: make its schemas exclude each other.
//   - A schema without type whose keywords bound one is of that type.
//   - Integers have no point and no exponent; numbers with bounds have no exponent.
//   - Strings with a pattern or format, keys that are not described, and values of enum and
//     const are written with the escapes that they need and no others. A pattern is RE2's,
//     but for \u and \/, and found anywhere in the string, as JSON schema has it. Formats are
//     written in their most common form, such as dates to the 28th of February and IPv6
//     addresses in full.
//
// # Bounds
//
// Patterns, schemas, programs and what is kept of states are bounded in size; following
// one token or making one mask is bounded in work, with [ErrTooAmbiguous] beyond it, which
// fails the one request. Nothing recurses deeper than 1000 over what a stranger has
// written.
//
// # Libraries
//
// No Go library does this: the engines that do, xgrammar, llguidance and outlines-core, are
// C++ and Rust with Python interfaces, and llama.cpp's is part of it. The parser of regular
// expressions is the standard library's. In tests github.com/santhosh-tekuri/jsonschema
// judges what is written.
//
// Ownership: a Grammar keeps its Vocabulary, and what it has learnt of its masks, 16 MiB at
// most, for all its processors. A [Cache] keeps the last 16 grammars.
//
// Concurrency: Vocabulary, Grammar, Cache and Processor may be used from any goroutine; a lock
// per grammar is held while a mask is made, not while it is applied. No goroutine is
// started here.
package grammar
