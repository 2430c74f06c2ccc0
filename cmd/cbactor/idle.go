package main

import (
	"context"
	"strings"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine/texts"
)

// idle says which settings of a request have no effect, and why; request is what they
// have settled to. They are called by their flags, or by their keys.
func (m maker) idle(ctx context.Context, s requests.Settings, request texts.Request, flags bool) []string {
	var warnings []string
	tell := func(why string, of ...wish) {
		if names := wished(of, flags); names != "" {
			warnings = append(warnings, names+" without effect: "+why)
		}
	}
	if !m.told {
		tell("it is told in JSON alone, give --json", wishesTold(s)...)
	}
	switch greedy := request.Sampling.Greedy(); {
	case request.Score:
		tell("nothing is generated to score a prompt", append(wishesDrawn(s), wishesOfText(s)...)...)
	case greedy:
		tell("the request is greedy, with temperature 0 or top_k 1", wishesRandom(s)...)
		tell("a greedy request has the same text each time", wish{"n", s.Sequences() > 1})
	}
	tell("the order is not by priority, give --scheduler-type "+priorityPolicy, wish{"priority", m.model.policy != priorityPolicy && (over(s.Priority, 0) || under(s.Priority, 0))})
	tell("it spells a special token, which is not shown and so not found: give its id as stop_ids", wish{"stop", m.model.spellSpecial(ctx, s.Stop)})
	return warnings
}

// wish is a setting, and whether it asks for something.
type wish struct {
	name  string
	asked bool
}

// wished are the names of what is asked for.
func wished(list []wish, flags bool) string {
	var names []string
	for _, w := range list {
		switch {
		case w.asked && flags:
			names = append(names, "--"+dashed(w.name))
		case w.asked:
			names = append(names, w.name)
		}
	}
	return strings.Join(names, ", ")
}

// wishesTold are those that text has no place for.
func wishesTold(s requests.Settings) []wish {
	return []wish{{"logprobs", over(s.Logprobs, -1)}, {"prompt_logprobs", is(s.PromptLogprobs)}, {"kept_tokens", is(s.KeptTokens)},
		{"score", is(s.Score)}, {"timestamps", is(s.Timestamps)}}
}

// wishesRandom are those of random draws.
func wishesRandom(s requests.Settings) []wish {
	some := func(p *float64) bool { return over(p, 0) && under(p, 1) }
	return []wish{{"top_k", over(s.TopK, 1)}, {"top_p", some(s.TopP)}, {"min_p", over(s.MinP, 0)}, {"typical_p", some(s.TypicalP)}}
}

// wishesDrawn are those of every draw.
func wishesDrawn(s requests.Settings) []wish {
	list := append([]wish{{"temperature", over(s.Temperature, 0)}}, wishesRandom(s)...)
	return append(list, wish{"repetition_penalty", over(s.RepetitionPenalty, 1) || under(s.RepetitionPenalty, 1)},
		wish{"presence_penalty", over(s.PresencePenalty, 0) || under(s.PresencePenalty, 0)},
		wish{"frequency_penalty", over(s.FrequencyPenalty, 0) || under(s.FrequencyPenalty, 0)},
		wish{"no_repeat_ngram", over(s.NoRepeatNgram, 0)}, wish{"bad_words", len(s.BadWords) > 0},
		wish{"allowed_ids", len(s.AllowedIDs) > 0}, wish{"logit_bias", len(s.LogitBias) > 0})
}

// wishesOfText are those of a generated text.
func wishesOfText(s requests.Settings) []wish {
	return []wish{{"min_new_tokens", over(s.MinNewTokens, 0)}, {"stop", len(s.Stop) > 0}, {"stop_ids", len(s.StopIDs) > 0},
		{"ignore_eos", is(s.IgnoreEOS)}, {"kept_tokens", is(s.KeptTokens)}, {"logprobs", over(s.Logprobs, -1) && !is(s.PromptLogprobs)}}
}

func is(b *bool) bool { return b != nil && *b }

func over[T int | float64](v *T, than T) bool { return v != nil && *v > than }

func under[T int | float64](v *T, than T) bool { return v != nil && *v < than }

// warner tells of what has no effect, each thing once.
type warner struct {
	cli  *cli
	said map[string]bool
}

// flags tells of flags.
func (w *warner) flags(warnings []string) {
	for _, s := range warnings {
		w.cli.say("warning: %s", s)
	}
}

// line tells of a line of a file.
func (w *warner) line(at *requests.LineError, warnings []string) {
	for _, s := range warnings {
		if !w.said[s] {
			w.said[s] = true
			w.cli.say("warning: %s:%d: %s", at.File, at.Line, s)
		}
	}
}
