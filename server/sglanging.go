package server

import (
	"context"
	"fmt"

	"github.com/cbactor/cbactor/engine/texts"
)

// sglanging writes the answers of a call for POST /generate.
type sglanging struct {
	*call
	params *sglangParams
	asks   []sglangAsk    // of each prompt
	told   []*sglangStory // of each sequence
}

// sglangAsk is what is asked for with a prompt.
type sglangAsk struct {
	request  texts.Request // without it
	logprobs bool
	from     int  // first place of the prompt whose log-probability is told; -1: none
	top      int  // most likely ones beside each
	raw      bool // they are the model's, else those of the distribution that was drawn from
	special  bool // the text has special tokens
}

// settle settles what is asked for with each of n prompts.
func (a *sglanging) settle(s *Server, n int, adapter string) error {
	if err := a.params.fits(n); err != nil {
		return err
	}
	if err := s.few(a.prompt, n); err != nil {
		return err
	}
	for i := range n {
		ask, err := a.wanted(i, s.options.SaltByUser)
		if err != nil {
			return err
		}
		if ask.request.ID, err = a.params.ridOf(a.id, i); err != nil {
			return err
		}
		ask.request.Adapter = a.params.Adapter.or(i, adapter)
		if ask.special && a.model.Spell == nil {
			return bad("skip_special_tokens", "is false, and the server does not know the special tokens of this model: leave it out")
		}
		a.asks = append(a.asks, ask)
		if first := a.asks[0].request.N; ask.request.N != first {
			return bad("sampling_params", "has n %d for prompt %d and %d for the first: give all the same", ask.request.N, i, first)
		}
	}
	a.shared.N = a.asks[0].request.N
	a.each = func(i int) texts.Request { return a.asks[i].request }
	return s.few(a.prompt, n*a.shared.N)
}

// wanted is what is asked for with prompt i, of which users may have a cache of their own.
func (a *sglanging) wanted(i int, byUser bool) (ask sglangAsk, err error) {
	p := a.params
	how := p.Sampling.or(i, sglangSampling{MaxNew: new(sglangMaxNew)})
	if ask.request, err = how.request(); err != nil {
		return ask, inside("sampling_params", err)
	}
	if err := p.setVersions(a.model, &ask.request); err != nil {
		return ask, err
	}
	if p.Priority < -100 || p.Priority > 100 {
		return ask, bad("priority", "is %d, must be from -100 to 100", p.Priority)
	}
	ask.request.Priority = p.Priority
	ask.request.Salt = sglangSalt(p.Salt.or(i, ""), p.User, byUser, p.Extra.or(i, ""))
	ask.special = how.SkipSpecial != nil && !*how.SkipSpecial
	ask.from, ask.logprobs = -1, p.Logprobs.or(i, false)
	if !ask.logprobs {
		return ask, nil
	}
	ask.from, ask.top = p.From.or(i, -1), p.Top.or(i, 0)
	switch {
	case ask.from < -1:
		return ask, bad("logprob_start_len", "is %d, must be -1 or more", ask.from)
	case ask.from >= 0 && p.Stream:
		return ask, bad("logprob_start_len", "is not streamed: leave stream or it out")
	}
	d := &ask.request.Sampling
	ask.raw = d.Greedy() || d.Temperature == 1 && len(d.Bias) == 0 && d.PresencePenalty == 0 && d.FrequencyPenalty == 0 && (d.RepetitionPenalty == 0 || d.RepetitionPenalty == 1)
	d.Tell, err = tell("top_logprobs_num", &ask.top)
	d.Tell.Prompt = ask.from >= 0
	return ask, err
}

// sglangSalt is saltOf, and keeps apart by extra_key, too.
func sglangSalt(salt, user string, byUser bool, extra string) string {
	salt = saltOf(salt, user, byUser)
	if extra == "" {
		return salt
	}
	return fmt.Sprintf("%s key %q", salt, extra)
}

// prepare implements answers.
func (a *sglanging) prepare(context.Context, []texts.Prompt) error {
	for i, ask := range a.asks {
		if n := len(a.ids[i]); ask.from > n {
			return bad("logprob_start_len", "is %d, prompt %d has %d tokens: give -1 to %d", ask.from, i, n, n)
		}
		for range a.shared.N {
			a.told = append(a.told, newSglangStory(&ask, a.processed))
		}
	}
	return nil
}

// ask is what was asked for with the prompt of a sequence.
func (a *sglanging) ask(sequence int) *sglangAsk { return &a.asks[sequence/a.shared.N] }

// several says that answers are lists.
func (a *sglanging) several() bool { return !a.params.one() || a.shared.N > 1 }

// whole implements answers.
func (a *sglanging) whole(outs []texts.Output, _ *usage) any {
	answers := make([]sglangAnswer, len(outs))
	for i := range outs {
		out := &outs[i]
		a.hear(i, &texts.Chunk{Chunk: chunkOf(out), Text: out.Text})
		answers[i] = a.answer(i, out)
		if ask := a.ask(i); ask.from >= 0 {
			a.addPrompt(&answers[i].Meta, i, outs)
		}
	}
	if !a.several() {
		return answers[0]
	}
	return answers
}

// begin implements answers.
func (a *sglanging) begin() []event { return nil }

// chunk implements answers.
func (a *sglanging) chunk(i int, c texts.Chunk) []event {
	a.hear(i, &c)
	answer := a.answer(i, c.Final)
	if a.several() {
		answer.Index = &i
	}
	return []event{{data: answer}}
}

// last implements answers.
func (a *sglanging) last(*usage) []event { return plainLast(nil, nil) }

// failed implements answers.
func (a *sglanging) failed(r *refusal) []event { return plainFailed(r) }
