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
// What is read of a tokenizer.json: the models BPE, over bytes or characters with
// byte_fallback, and Unigram; the normalizers NFC, NFD, NFKC, NFKD, Lowercase,
// StripAccents, Strip, Replace, Prepend, Precompiled; the pre-tokenizers ByteLevel,
// Split, Metaspace, Digits, Punctuation, Whitespace, WhitespaceSplit; the decoders
// ByteLevel, Metaspace, ByteFallback, Fuse, Replace, Strip; TemplateProcessing; added
// tokens with all their flags. Of GGUF: the models gpt2 with the pre-tokenizers of
// checkpoint, llama (SentencePiece by score) and gemma4. Anything else in a file is
// refused by its name with [ErrUnsupported], never guessed.
//
// Patterns of Split steps that most models have are scanned by hand in time linear in
// the text. All others, and those of Replace, run in regexp2, which may go back without
// end: a match that takes longer than 2 s is given up, as are all of a text that take longer
// than 2 s and 4 µs for each byte, and the text has no ids then
// ([ErrPattern]). What the two engines do not share is refused.
//
// A file cannot ask for much more than its size: chains of replacements that make a text
// more than 256 times longer are refused, as are patterns of more than 4 KiB together, added
// tokens of more than 512 bytes and more than 1,024 tokens around a text.
//
// Unicode: classes of characters are those of the reference (mostly Unicode 16.0) where
// Go's own tables are older, and its norms those of Unicode 9.0, where Go's are newer;
// the differences are in unicode16.go.
//
// A byte that a token stands for by its name, <0x41>, is that byte in a text, whatever
// stands beside it; the reference gives one U+FFFD for every byte of a run of such tokens
// that is not UTF-8 as a whole, and here it is one for each ill-formed part of it.
//
// Text that is not UTF-8: each maximal ill-formed part counts as one U+FFFD, in
// both directions (the Unicode Standard, section 3.9), as Python and Rust do
// it; ranging over a Go string would give one a byte.
//
// Chat templates are programs that come with a model, written by a stranger. They
// run in text/jinja, an interpreter with limits on steps, memory, depth and time; as
// many as run at once are bounded. Each is tried once when it is loaded: one that has
// to be stopped is not used, and what it takes is found out (arguments of calls as
// dicts or as strings, an empty list of tools or none, whether content must be a list of
// parts; that it may be one, the parsed template tells by a loop over it). A rendering of more than 8 MiB
// is not encoded ([ErrTooLong]).
//
// A conversation whose last message is to be continued is rendered with a mark behind that
// message, and ends where the mark is. Variables of the caller's are given to the template
// beside its own, and are text of the conversation as far as control tokens go.
//
// Control tokens are the template's alone. A rendered text knows which of its bytes
// came from the conversation, and an added token that is special, or that the
// template's own text has, is not looked for there: what somebody writes into a
// message, a tool or a name is text. Roles are told apart by name: the known ones are
// as good as the template's text, as templates build tokens of them. Where a token is
// looked for in normalised text, the conversation must leave the tokens that are found
// and the text between them as they are in the text as written; else that is what counts.
// A word of a rendering that the model makes a control token of all the same, as Unigram does
// of </s>, is written by other tokens; where there are none for it, the rendering is refused
// ([ErrControlToken]).
//
// Ownership and concurrency: a Codec is read-only but for a bounded cache of
// words behind a lock, and safe for concurrent use, as Stops are. A [Decoder], a
// Session and a StopMatcher belong to one goroutine. Slices and strings that are returned belong to the
// caller.
package text
