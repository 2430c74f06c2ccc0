// Package text turns text into token ids and token ids into text: tokenizer,
// chat template, incremental detokeniser and stop strings.
//
// Purpose: [Load] makes a [Codec] from what a checkpoint holds, a
// tokenizer.json or the vocabulary of a GGUF file. The ids are those of the
// reference (Hugging Face tokenizers 0.23.3). A [Session] is the one way from
// an engine's stream of ids to text, for the command, the server and Go
// programs alike. [Stops] are strings that end a text: the engine ends a request
// where a [StopMatcher] finds one in its ids, and a Session, which has the same
// scanner inside, cuts the text there.
//
// What is read: byte-level BPE with the pre-tokenizers ByteLevel, Digits and
// Split by the patterns of GPT-2, Llama 3 and Qwen2; NFC; added tokens with
// lstrip, rstrip and single_word; TemplateProcessing. Anything else in a file
// is refused by its name with [ErrUnsupported], never guessed. The patterns are
// scanned by hand in time linear in the text; no regular expression of a file
// is ever run.
//
// Unicode: letters and numbers are those of Unicode 16.0, as in the reference;
// Go's own tables are older, and the difference is in unicode16.go. NFC and the
// words of single_word use Go's tables.
//
// Text that is not UTF-8: each maximal ill-formed part counts as one U+FFFD, in
// both directions (the Unicode Standard, section 3.9), as Python and Rust do
// it; ranging over a Go string would give one a byte.
//
// Chat templates are programs that come with a model, written by a stranger. They
// run in text/jinja, an interpreter with limits on steps, memory, depth and time; as
// many as run at once are bounded. Each is tried once when it is loaded: one that has
// to be stopped is not used, and what it takes is found out (arguments of calls as
// dicts or as strings, an empty list of tools or none).
//
// Control tokens are the template's alone. A rendered text knows which of its bytes
// came from the conversation, and an added token that is special, or that the
// template's own text has, is not looked for there: what somebody writes into a
// message, a tool or a name is text. Roles are told apart by name: the known ones are
// as good as the template's text, as templates build tokens of them.
//
// Ownership and concurrency: a Codec is read-only but for a bounded cache of
// words behind a lock, and safe for concurrent use, as Stops are. A [Decoder], a
// Session and a StopMatcher belong to one goroutine. Slices and strings that are returned belong to the
// caller.
package text
