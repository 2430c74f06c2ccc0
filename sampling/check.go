package sampling

import (
	"errors"
	"fmt"
	"math"
)

// ErrParams is the class of every refused parameter: each is a *ParamError.
var ErrParams = errors.New("bad sampling parameter")

// ParamError is a parameter that is refused. Field has the name that it has in
// requests, such as "top_p".
type ParamError struct{ Field, Problem string }

func (e *ParamError) Error() string {
	return fmt.Sprintf("%v: %s %s", ErrParams, e.Field, e.Problem)
}

func (e *ParamError) Unwrap() error { return ErrParams }

func refuse(field, format string, args ...any) error {
	return &ParamError{field, fmt.Sprintf(format, args...)}
}

// Bounds beside those of numbers. What a draw costs beyond a pass over the logits
// grows with them.
const (
	maxBias     = 300
	maxBadWords = 1000
	maxWord     = 256 // ids of a bad word
	maxNgram    = 128
	maxEnds     = 1024
)

// Check refuses values outside their range, NaN among them, and combinations that
// leave no token whatever the model says. The error is a *ParamError.
func (p Params) Check() error {
	if err := p.checkNumbers(); err != nil {
		return err
	}
	if err := p.checkLists(); err != nil {
		return err
	}
	switch {
	case p.Tell.Top < 0 || p.Tell.Top > MaxTop:
		return refuse("top_logprobs", "is %d, must be from 0 to %d", p.Tell.Top, MaxTop)
	case p.Tell.Top > 0 && !p.Tell.Logprobs && !p.Tell.Prompt:
		return refuse("top_logprobs", "is %d without log-probabilities, ask for these too", p.Tell.Top)
	}
	return p.checkLeft()
}

func (p Params) checkNumbers() error {
	for _, f := range [...]struct {
		name           string
		value, low, hi float32
	}{
		{"repetition_penalty", p.RepetitionPenalty, 0.1, 10},
		{"presence_penalty", p.PresencePenalty, -2, 2},
		{"frequency_penalty", p.FrequencyPenalty, -2, 2},
		{"temperature", p.Temperature, 0, 2},
		{"top_p", p.TopP, 0, 1},
		{"min_p", p.MinP, 0, 1},
		{"typical_p", p.TypicalP, 0, 1},
	} {
		if f.value != 0 && !(f.value >= f.low && f.value <= f.hi) { // NaN fails both
			return refuse(f.name, "is %v, must be from %v to %v", f.value, f.low, f.hi)
		}
	}
	switch {
	case p.TopK < 0:
		return refuse("top_k", "is %d, must be 0 or more", p.TopK)
	case p.NoRepeatNgram < 0 || p.NoRepeatNgram > maxNgram:
		return refuse("no_repeat_ngram_size", "is %d, must be from 0 to %d", p.NoRepeatNgram, maxNgram)
	case p.MinNew < 0:
		return refuse("min_new_tokens", "is %d, must be 0 or more", p.MinNew)
	}
	return nil
}

func (p Params) checkLists() error {
	switch {
	case len(p.Bias) > maxBias:
		return refuse("logit_bias", "has %d entries, at most %d may be", len(p.Bias), maxBias)
	case len(p.BadWords) > maxBadWords:
		return refuse("bad_words", "has %d entries, at most %d may be", len(p.BadWords), maxBadWords)
	case len(p.Ends) > maxEnds:
		return refuse("ends", "has %d ids, at most %d may be", len(p.Ends), maxEnds)
	}
	seen := make(map[int32]bool, len(p.Bias))
	for _, b := range p.Bias {
		if seen[b.ID] {
			return refuse("logit_bias", "has id %d twice", b.ID)
		}
		seen[b.ID] = true
		if !(math.Abs(float64(b.Value)) <= 100) { // NaN fails
			return refuse("logit_bias", "of id %d is %v, must be from -100 to 100", b.ID, b.Value)
		}
	}
	for i, word := range p.BadWords {
		if n := len(word); n == 0 || n > maxWord {
			return refuse("bad_words", "has %d ids in entry %d, must be from 1 to %d", n, i, maxWord)
		}
	}
	return nil
}

// checkLeft refuses Allowed if each of it is always banned: by a bad word of one
// id, or, at the first token, as one of Ends.
func (p Params) checkLeft() error {
	if len(p.Allowed) == 0 || len(p.BadWords) == 0 && p.MinNew == 0 {
		return nil
	}
	banned := p.banned()
	for _, id := range p.Allowed {
		if !banned[id] {
			return nil
		}
	}
	return refuse("allowed_ids", "are all banned by bad_words or min_new_tokens, allow others too")
}

// banned is the ids that cannot be the first token.
func (p Params) banned() map[int32]bool {
	ids := make(map[int32]bool)
	for _, word := range p.BadWords {
		if len(word) == 1 {
			ids[word[0]] = true
		}
	}
	if p.MinNew > 0 {
		for _, id := range p.Ends {
			if id >= 0 {
				ids[id] = true
			}
		}
	}
	return ids
}

// CheckVocab is Check and refuses also ids that are not from 0 to vocab-1, and bans
// of all of these. A negative id of Ends is one that no token has.
func (p Params) CheckVocab(vocab int) error {
	if err := p.Check(); err != nil {
		return err
	}
	for _, b := range p.Bias {
		if err := inVocab("logit_bias", b.ID, vocab); err != nil {
			return err
		}
	}
	for _, word := range p.BadWords {
		for _, id := range word {
			if err := inVocab("bad_words", id, vocab); err != nil {
				return err
			}
		}
	}
	for _, id := range p.Ends {
		if err := inVocab("ends", max(id, 0), vocab); err != nil {
			return err
		}
	}
	if len(p.Allowed) > vocab {
		return refuse("allowed_ids", "has %d ids, the vocabulary has %d", len(p.Allowed), vocab)
	}
	for _, id := range p.Allowed {
		if err := inVocab("allowed_ids", id, vocab); err != nil {
			return err
		}
	}
	if len(p.BadWords)+len(p.Ends) >= vocab && len(p.banned()) >= vocab {
		return refuse("bad_words", "and min_new_tokens ban all %d ids of the vocabulary", vocab)
	}
	return nil
}

func inVocab(field string, id int32, vocab int) error {
	if id < 0 || int(id) >= vocab {
		return refuse(field, "has id %d, must be from 0 to %d", id, vocab-1)
	}
	return nil
}
