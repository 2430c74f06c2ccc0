package sampling

// Params says how a request's tokens are drawn. The zero value is greedy. What is
// zero has no effect. The fields stand in the order in which they act, which is
// that of Transformers 5.23, as is what each does; it has no presence and frequency
// penalty, whose definition is OpenAI's. Its slices are read only: they may be
// shared. Check and CheckVocab have the ranges.
type Params struct {
	Bias              []Bias    // added to logits; no id twice
	RepetitionPenalty float32   // divides (multiplies, if negative) the logits of ids in prompt and generated; 1: none
	PresencePenalty   float32   // taken from the logits of ids that were generated
	FrequencyPenalty  float32   // taken from them once for each time
	NoRepeatNgram     int32     // no n-gram of prompt and generated comes twice
	BadWords          [][]int32 // sequences that are never completed
	MinNew            int32     // as long as fewer were generated, none of Ends is drawn
	Ends              []int32   // ids that end the request
	Allowed           []int32   // the only ids that may be drawn; empty: all
	Processor         Processor // code of the caller's

	// A greedy request has none of the following.
	Temperature float32 // 0: greedy
	TopK        int32   // keep the k most likely; 0: all
	TopP        float32 // keep the smallest set whose probability reaches p; 0 or 1: all
	MinP        float32 // keep what has this share of the most likely token's probability
	TypicalP    float32 // keep the smallest set of the most typical whose probability reaches p; 0 or 1: all

	Tell Tell
}

// Bias is added to the logit of a token.
type Bias struct {
	ID    int32
	Value float32
}

// Processor changes the logits of a row in place: -Inf bans a token, NaN and +Inf
// are errors. ids are the sequence so far, read only, the first prompt of them its
// prompt; both slices are valid during the call only. It is called on a thread that
// computes and holds up the step; a panic or an error fails its sequence alone. The
// sequences of one prompt share it: calls for them may come at the same time, in any
// order and again after a preemption, so it keeps nothing between calls, or under a lock
// and by ids.
type Processor interface {
	Process(ids []int32, prompt int, logits []float32) error
}

// MaxTop is the largest Tell.Top.
const MaxTop = 50

// MaxKept is the largest number of ids that is told by Tell.Kept: of more their number
// alone is. So what is told of a token takes at most 16 KiB, whatever the vocabulary.
const MaxKept = 4096

// Tell says what is told of tokens beside their ids.
type Tell struct {
	Logprobs bool  // of the tokens drawn
	Top      int32 // with them, of the most likely by the raw logits, at most MaxTop: OpenAI's top_logprobs
	Kept     bool  // the ids that processors and filters left to draw from, up to MaxKept; greedy, the one drawn
	Prompt   bool  // the log-probabilities of the prompt's tokens, Top of each too
}

// Greedy says that no random number is drawn: the most likely token is taken.
func (p Params) Greedy() bool { return p.Temperature == 0 || p.TopK == 1 }
