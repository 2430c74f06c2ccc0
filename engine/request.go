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
	MaxNewTokens int             // 0: until the context is full; more than fits ends with FinishLength there
	Sampling     sampling.Params // its Ends end the request too, as EOS does
	Seed         *uint64         // nil: drawn from the engine's own
	EOS          []int32         // ids that end it; nil: the model's
	IgnoreEOS    bool            // no id of EOS ends it
	N            int             // sequences of the prompt, with ids ID, ID/1, …, each drawing by itself; 0: 1
	Priority     int             // with the policy for it: higher goes first; from -100 to 100

	// Score computes the prompt and draws nothing: MaxNewTokens must be 0. With
	// Sampling.Tell.Prompt it gives the log-probabilities of a text. It ends with FinishLength.
	Score bool

	// Stop makes what finds the request's end in its tokens, such as stop strings; one
	// for each sequence, on the caller's goroutine. Match is called between steps, on the
	// goroutine that serves all requests: it must not block nor call the engine, for
	// until it returns nobody gets a token, an end or an answer.
	Stop func() Matcher

	Deadline   time.Duration // from acceptance, after any wait for room in the queue, to the end, which it forces with FinishDeadline; 0: none
	FirstToken time.Duration // from acceptance to the first token; 0: none
	Timestamps bool          // keep the moment of each token

	// Adapter names a LoRA adapter that LoadAdapter has loaded; "": none. An adapter is
	// added to whatever weights the engine has.
	Adapter string
	// Salt separates the prefix cache: requests take cache blocks only of those with the
	// same Salt, and the same Adapter. Give each tenant one of its own, which nobody can
	// guess, where the time to the first token must not tell what others have asked.
	Salt string

	KV           KVPolicy // what becomes of it when weights are updated; KVAsUpdate: as the update says
	MinVersion   string   // the weights that compute it are this version or one that came later; "": any. Where they are not, it is refused with ErrStale, and ends with FinishStale when they go back
	MaxStaleness *int     // updates that may come after its first token: with one more it ends with FinishStale; nil: any number

	Private bool // takes no cache blocks of other requests and leaves none to them
	Wait    bool // AddRequest waits where the queue is full, as long as its context allows, and behind those who wait already

	// Handler, if set, is called with all that comes: with each step's news if
	// Streaming, else once, at the end. Each sequence has a goroutine that calls it; one
	// that takes long holds up nobody else. One that panics is not called again, and fails
	// its own request with ErrHandler, unless that has ended, as it always has without
	// Streaming: then the panic is logged, and counted by HandlerPanics, and changes no
	// Output. AddRequests keeps the result of a request whose handler has panicked. It is
	// not called any more after the final Chunk.
	Handler   func(Chunk)
	Streaming bool // Handler and ResultsOf get what is new with every step, not all at the end
}

// Matcher finds the end of a request in its tokens.
type Matcher = actors.Matcher

// FinishReason says why a request ended.
type FinishReason = actors.Reason

const (
	FinishStop      = actors.ReasonStop      // an id that ends it, the last of TokenIDs, or with Matched its Stop
	FinishLength    = actors.ReasonLength    // MaxNewTokens or the context is reached
	FinishCancelled = actors.ReasonCancelled // by Cancel, or by a context
	FinishDeadline  = actors.ReasonDeadline  // Request.Deadline or Request.FirstToken has passed
	FinishAborted   = actors.ReasonAborted   // by a pause with PauseAbort, or an update of the weights with KVAbort
	FinishStale     = actors.ReasonStale     // see Request.MinVersion and Request.MaxStaleness
	FinishFailed    = actors.ReasonFailed    // see Output.Err
)

// Output is what became of a request.
type Output struct {
	RequestID    string
	PromptIDs    []int32
	TokenIDs     []int32 // generated, with the id that ended it
	FinishReason FinishReason
	Err          error // with FinishFailed
	Matched      bool  // with FinishStop: the request's Stop ended it
	Usage        Usage

	Logprobs       []sampling.Drawn // one per token, where Sampling.Tell asks
	PromptLogprobs []sampling.Drawn // of the prompt's ids from the second on, where it asks; of N sequences the first has them

	WeightVersions []VersionSpan // of TokenIDs: which weights sampled them
	KVVersions     []VersionSpan // of the prompt and TokenIDs: which weights computed the cache that the last token came from; without a token, that of the prompt as far as it was computed

	Preemptions int // times its cache was given up for an older request
	Timing      Timing
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	CachedTokens     int `json:"cached_tokens"` // prompt tokens taken from the prefix cache
}

// Timing has the moments of a request. Started, when it left the queue, and First,
// when its first token came, are zero where that did not happen.
type Timing struct {
	Created, Started, First, Ended time.Time

	Tokens []time.Time // of each token, where Request.Timestamps asks
}

// Chunk is what came since the last one: TokenIDs are the tokens from Offset on.
// Final is set in the last chunk only.
type Chunk struct {
	RequestID string
	TokenIDs  []int32
	Logprobs  []sampling.Drawn // one per token, where asked for
	Offset    int
	Final     *Output

	WeightVersions []VersionSpan // of TokenIDs, by their places in the whole; nil: as the token before
	KVVersions     []VersionSpan // as Output.KVVersions, nil: as before, and longer
}
