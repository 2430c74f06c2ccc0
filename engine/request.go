package engine

import (
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
)

// Request asks for tokens. Its slices are copied.
type Request struct {
	ID           string // "": the engine makes one
	PromptIDs    []int32
	MaxNewTokens int // 0: until the context is full; more than fits ends with FinishLength there
	Sampling     sampling.Params
	Seed         *uint64 // nil: drawn from the engine's own
	EOS          []int32 // ids that end it; nil: the model's
	IgnoreEOS    bool    // no id ends it
	N            int     // sequences of the prompt, with ids ID, ID/1, …, each drawing by itself; 0: 1
	Priority     int     // with the policy for it: higher goes first; from -100 to 100
}

// FinishReason says why a request ended.
type FinishReason = actors.Reason

const (
	FinishStop      = actors.ReasonStop      // an end-of-sequence id, the last of TokenIDs
	FinishLength    = actors.ReasonLength    // MaxNewTokens or the context is reached
	FinishCancelled = actors.ReasonCancelled // by Cancel, or by a context
	FinishFailed    = actors.ReasonFailed    // see Output.Err
)

// Output is what became of a request.
type Output struct {
	RequestID    string
	PromptIDs    []int32
	TokenIDs     []int32 // generated, with the end-of-sequence id that ended it
	FinishReason FinishReason
	Err          error // with FinishFailed
	Usage        Usage
	Preemptions  int // times its cache was given up for an older request
	Timing       Timing
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	CachedTokens     int `json:"cached_tokens"` // prompt tokens taken from the prefix cache
}

// Timing has the moments of a request; First is zero when no token came.
type Timing struct {
	Created, First, Ended time.Time
}

// Chunk is what came since the last one: TokenIDs are the tokens from Offset on.
// Final is set in the last chunk only.
type Chunk struct {
	TokenIDs []int32
	Offset   int
	Final    *Output
}
