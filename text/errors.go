package text

import "errors"

// Errors of this package, wrapped with what was found. Test with errors.Is.
var (
	// ErrNoTokenizer: the checkpoint has no tokenizer; token ids still work.
	ErrNoTokenizer = errors.New("the model has no tokenizer: give token ids instead of text")

	// ErrUnsupported: the tokenizer uses something that is not known here.
	ErrUnsupported = errors.New("the tokenizer is not supported (token ids work without it)")

	// ErrPattern: a regular expression of the tokenizer did not come to an end on a
	// text. It is for callers of [Codec.Encode] and [Codec.EncodeRaw] that got nil.
	ErrPattern = errors.New("the tokenizer's pattern takes too long on this text: shorten it, or give token ids")

	// ErrMalformed: the tokenizer contradicts itself or cannot be parsed.
	ErrMalformed = errors.New("the tokenizer is damaged: fetch the model again")

	// ErrNoTemplate: the checkpoint has no chat template.
	ErrNoTemplate = errors.New("the model has no chat template: give a plain prompt instead of messages")

	// ErrStops: the stop strings cannot be looked for.
	ErrStops = errors.New("bad stop strings")

	// ErrControlToken: a message spells a control token, and this tokenizer writes it as
	// that even where it is text.
	ErrControlToken = errors.New("the tokenizer cannot write a control token as text: take it out of the messages")

	// ErrTooLong: what the chat template made of the messages is longer than any context.
	ErrTooLong = errors.New("the messages are too long: shorten them")

	// ErrTemplate: the chat template does not compile, took too long, or
	// refused the messages; its own words follow.
	ErrTemplate = errors.New("the chat template failed")

	// ErrNoTools: the chat template does nothing with tools, or with calls of them.
	ErrNoTools = errors.New("the model's chat template knows no tools: leave them out")

	// ErrVariables: a variable for the chat template is no JSON, or one that is set otherwise.
	ErrVariables = errors.New("bad variables for the chat template")

	// ErrContinue: the last message cannot be continued, as the chat template does not
	// write it as it is, or there is no message.
	ErrContinue = errors.New("the last message cannot be continued")

	// ErrTools: the tools given are no JSON.
	ErrTools = errors.New("bad tools")
)
