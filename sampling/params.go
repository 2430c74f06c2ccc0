package sampling

import (
	"errors"
	"fmt"
	"math"
)

// ErrParams is the class of every refused parameter.
var ErrParams = errors.New("bad sampling parameter")

// Params says how a request's tokens are drawn. The zero value is greedy. What is
// zero has no effect. The fields stand in the order in which they act, which is
// that of Transformers. Its slices are read only: they may be shared.
type Params struct {
	Bias              []Bias    // added to logits; no id twice
	RepetitionPenalty float32   // divides (multiplies, if negative) the logits of ids in prompt and generated; 1: none
	PresencePenalty   float32   // taken from the logits of ids that were generated
	FrequencyPenalty  float32   // taken from them once for each time
	NoRepeatNgram     int32     // no n-gram of prompt and generated comes twice
	BadWords          [][]int32 // sequences that are never completed
	MinNew            int32     // as long as fewer were generated, none of Ends is drawn
	Ends              []int32   // ids that may end the request
	Allowed           []int32   // the only ids that may be drawn; empty: all
	Processor         Processor // code of the caller's

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

// Processor changes the logits of a row in place. ids are the sequence so far, the
// first prompt of them its prompt; both slices are valid during the call only. It
// is called on a thread that computes and holds up the step; a panic or an error
// fails its request alone.
type Processor interface {
	Process(ids []int32, prompt int, logits []float32) error
}

// Tell says what is told of tokens beside their ids.
type Tell struct {
	Logprobs bool  // of the tokens drawn
	Top      int32 // with them, of the most likely by the raw logits, at most 50
	Kept     bool  // with them, the ids that could have been drawn
	Prompt   bool  // the log-probabilities of the prompt's tokens, Top of each too
}

// Greedy says that no random number is drawn: the most likely token is taken.
func (p Params) Greedy() bool { return p.Temperature == 0 || p.TopK == 1 }

// Check refuses values outside their range, naming the field.
func (p Params) Check() error {
	bad := func(name, want string, v any) error {
		return fmt.Errorf("%w: %s is %v, must be %s", ErrParams, name, v, want)
	}
	if t := float64(p.Temperature); math.IsNaN(t) || t < 0 || t > 2 {
		return bad("temperature", "from 0 to 2", p.Temperature)
	}
	if p.TopK < 0 {
		return bad("top_k", "0 or more", p.TopK)
	}
	if t := float64(p.TopP); math.IsNaN(t) || t < 0 || t > 1 {
		return bad("top_p", "from 0 to 1", p.TopP)
	}
	return nil
}
