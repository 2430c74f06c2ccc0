package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
)

// prompts are how stories begin.
var prompts = []string{"Once upon a time", "Lily and Tim went to", "One day, a little", "The dog was"}

// sampler makes groups of stories.
type sampler struct {
	options
	engine *engine.Engine
	codec  *text.Codec
	begun  atomic.Int64 // groups
	drawn  atomic.Int64 // tokens
}

// story is a sampled one.
type story struct {
	engine.Output
	logits  [][]float32 // that each token was drawn from
	reward  float64
	surplus float64 // of its reward over its group's
}

// recorder copies the logits of one story; engine.Request's Processor.
type recorder struct {
	logits [][]float32
	drawn  *atomic.Int64
}

// Process implements sampling.Processor. It changes nothing. A step may come after a
// story's last one, as it was begun before that was known.
func (r recorder) Process(ids []int32, prompt int, logits []float32) error {
	r.logits[len(ids)-prompt] = slices.Clone(logits)
	r.drawn.Add(1)
	return nil
}

// run samples groups and hands them over until ctx ends.
func (s *sampler) run(ctx context.Context, out chan<- []*story) error {
	for {
		group, err := s.group(ctx)
		if err != nil {
			return err
		}
		select {
		case out <- group:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// group samples stories from one prompt.
func (s *sampler) group(ctx context.Context) ([]*story, error) {
	number := int(s.begun.Add(1))
	prompt := s.codec.Encode(prompts[number%len(prompts)])
	if prompt == nil {
		return nil, text.ErrPattern
	}
	group, streams := make([]*story, s.stories), make([]*engine.Stream, s.stories)
	for i := range group {
		group[i] = &story{logits: make([][]float32, s.tokens)}
		seed := s.seed + uint64(number*s.stories+i)
		r := engine.Request{PromptIDs: prompt, MaxNewTokens: s.tokens, Seed: &seed}
		r.Sampling.Temperature, r.Sampling.Tell.Logprobs = 1, true
		r.Sampling.Processor = recorder{group[i].logits, &s.drawn}
		var err error
		if streams[i], err = s.engine.AddRequest(ctx, r); err != nil {
			return nil, err
		}
	}
	mean := 0.0
	for i, stream := range streams {
		one := group[i]
		one.Output = stream.Wait(ctx)
		if err := cmp.Or(ctx.Err(), one.Err); err != nil {
			return nil, err
		}
		one.reward = s.reward(s.codec.Decode(one.TokenIDs))
		mean += one.reward / float64(s.stories)
	}
	for _, one := range group {
		one.surplus = one.reward - mean
	}
	return group, nil
}

// reward is the share of words that begin with the letter.
func (s *sampler) reward(story string) float64 {
	words, good := strings.Fields(story), 0
	for _, w := range words {
		if strings.HasPrefix(strings.ToLower(w), s.letter) {
			good++
		}
	}
	return float64(good) / float64(max(1, len(words)))
}
