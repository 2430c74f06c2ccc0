package texts

import (
	"context"

	"github.com/cbactor/cbactor/engine"
)

// Service generates text.
type Service interface {
	// Encode is the token ids of a prompt as Generate would put it to the model. Where the
	// model has no tokenizer the error wraps text.ErrNoTokenizer or text.ErrUnsupported,
	// for all but ids; errors of messages are text.ErrNoTemplate, text.ErrTemplate,
	// text.ErrNoTools, text.ErrTools, text.ErrVariables, text.ErrContinue,
	// text.ErrControlToken and text.ErrTooLong, those of texts text.ErrPattern.
	Encode(ctx context.Context, p Prompt) ([]int32, error)

	// Decode is the text of ids, as text.Codec.Decode gives it.
	Decode(ctx context.Context, ids []int32) (string, error)

	// Generate submits a request, as engine.AddRequest does, and returns the stream of its
	// first sequence. Errors are those of Request.Check, Encode and engine.AddRequest,
	// and text.ErrStops.
	Generate(ctx context.Context, r Request) (Stream, error)
}

// Stream reads what comes of one sequence, from its beginning, as engine.Stream does.
type Stream interface {
	ID() string
	Children() []Stream // of the other sequences of a request with N above 1

	// Recv waits for news; after the final Chunk it answers io.EOF. ctx ends only the wait.
	Recv(ctx context.Context) (Chunk, error)

	// Wait reads to the end. When ctx ends first, the request is cancelled.
	Wait(ctx context.Context) Output
}

// Chunk is what came since the last one.
type Chunk struct {
	engine.Chunk
	Text  string  // certain with these ids, beyond what was told before; with Final all that was held back, too
	Final *Output // set in the last one only
}

// Output is what became of a sequence.
type Output struct {
	engine.Output
	Text    string // of TokenIDs, without special tokens and stop ids, cut at Stopped
	Stopped string // the stop string that was found; "": none
}
