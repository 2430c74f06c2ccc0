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
// Chat templates are programs that come with a model, written by a stranger.
// They are limited in source size, in steps (loop rounds, macro calls, items of
// range) and in time, and as many as run at once are bounded; they are tried
// once when loaded. That stops endless loops and recursion. It is no sandbox:
// one that doubles a string in straight-line code can still use up the memory
// of the process, as no limit on memory exists inside a process. Use templates
// of models that are trusted. Against jinja2 the library is known to differ in
// tojson with indent (keys come out sorted), the repr of strings with both kinds
// of quotes, filtered loops over two variables, and errors that jinja2 raises
// for undefined values.
//
// Ownership and concurrency: a Codec is read-only but for a bounded cache of
// words behind a lock, and safe for concurrent use, as Stops are. A [Decoder], a
// Session and a StopMatcher belong to one goroutine. Slices and strings that are returned belong to the
// caller. Rendering a template runs a goroutine, which may outlive its deadline
// where it cannot be stopped.
package text
