package show

import "github.com/cbactor/cbactor/sampling"

// Drawn is what is told of a token, in JSON.
type Drawn struct {
	Logprob
	Top  []Logprob `json:"top,omitempty"`
	Kept []int32   `json:"kept,omitempty"`
}

// Logprob is a token and its log-probabilities, see sampling.Logprob.
type Logprob struct {
	ID      int32   `json:"id"`
	Raw     float32 `json:"raw"`
	Sampled float32 `json:"sampled"`
}

// never stands for minus infinity, which JSON cannot say.
const never = -9999

func newLogprob(p sampling.Logprob) Logprob {
	return Logprob{p.ID, finite(p.Raw), finite(p.Sampled)}
}

// finite is x, or never when it is less or no number.
func finite(x float32) float32 {
	if x > never {
		return x
	}
	return never
}

// newDrawn is what is told of tokens; nil: nothing.
func newDrawn(list []sampling.Drawn) []*Drawn {
	if list == nil {
		return nil
	}
	drawn := make([]*Drawn, len(list))
	for i, d := range list {
		drawn[i] = &Drawn{Logprob: newLogprob(d.Logprob), Kept: d.Kept}
		for _, p := range d.Top {
			drawn[i].Top = append(drawn[i].Top, newLogprob(p))
		}
	}
	return drawn
}

// newPromptDrawn is newDrawn of a prompt, with nothing for its first token, before
// which there was none.
func newPromptDrawn(list []sampling.Drawn) []*Drawn {
	if list == nil {
		return nil
	}
	return append([]*Drawn{nil}, newDrawn(list)...)
}
