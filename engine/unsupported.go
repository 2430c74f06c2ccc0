package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/sampling"
)

// onlySampling are settings that have no effect on a greedy model.
var onlySampling = []string{"epsilon_cutoff", "eta_cutoff", "top_h"}

// Unsupported names what a model's authors recommend of sampling and the engine
// does not have.
func Unsupported(g checkpoint.Generation) []string {
	return slices.DeleteFunc(slices.Clone(g.Other), func(name string) bool {
		return !samples(g) && slices.Contains(onlySampling, name)
	})
}

// ErrRecommended is the class of recommendations that nobody can follow.
var ErrRecommended = errors.New("sampling that the model recommends")

// Recommended is what a model's authors recommend of sampling, read as Transformers
// does: greedy unless do_sample is set, and then at temperature 1 unless there is
// one; penalties and what is forbidden count for both. An error, of class
// ErrRecommended, is also of class sampling.ErrParams.
func Recommended(g checkpoint.Generation) (sampling.Params, error) {
	p := sampling.Params{BadWords: g.BadWords}
	put(&p.RepetitionPenalty, g.RepetitionPenalty)
	putInt(&p.NoRepeatNgram, g.NoRepeatNgram)
	if samples(g) {
		p.Temperature = 1
		put(&p.Temperature, g.Temperature)
		put(&p.TopP, g.TopP)
		put(&p.MinP, g.MinP)
		put(&p.TypicalP, g.TypicalP)
		putInt(&p.TopK, g.TopK)
	}
	if err := p.Check(); err != nil {
		return p, fmt.Errorf("%w: %w: mend it", ErrRecommended, err)
	}
	return p, nil
}

func samples(g checkpoint.Generation) bool { return g.DoSample != nil && *g.DoSample }

func put(to *float32, from *float64) {
	if from != nil {
		*to = float32(*from)
	}
}

// putInt takes a number that is too large for the largest there is, and a negative
// one for -1.
func putInt(to *int32, from *int) {
	if from != nil {
		*to = int32(max(-1, min(*from, 1<<31-1)))
	}
}
