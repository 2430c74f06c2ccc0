package requests

import (
	"math"
	"time"
)

// Groups of settings.
const (
	groupEnd      = "Where it ends"
	groupSampling = "How tokens are drawn, where nothing is said as the model recommends, else greedy"
	groupTold     = "What is told"
	groupServed   = "How it is served"
)

// table has every setting. The flag of seed is that of the engine, whose seed a
// request's own comes from where it has none; that of adapter loads them, too.
var table = []Setting{
	whole(Setting{Name: "max_new_tokens", Group: groupEnd, Help: "tokens to generate at most", Preset: "256"}, 1, math.MaxInt32, func(s *Settings) **int { return &s.MaxNewTokens }),
	whole(Setting{Name: "min_new_tokens", Group: groupEnd, Help: "tokens before which no end token is drawn; a stop text ends it all the same"}, 0, math.MaxInt32, func(s *Settings) **int { return &s.MinNewTokens }),
	stops(Setting{Name: "stop", Group: groupEnd, Help: "text that ends it and is cut off (repeatable)"}),
	yes(Setting{Name: "include_stop", Group: groupEnd, Help: "leave that text in"}, func(s *Settings) **bool { return &s.IncludeStop }),
	ids(Setting{Name: "stop_ids", Group: groupEnd, Help: "more tokens that end it, not shown"}, func(s *Settings) *[]int32 { return &s.StopIDs }),
	yes(Setting{Name: "ignore_eos", Group: groupEnd, Help: "go on after the model's end-of-sequence tokens"}, func(s *Settings) **bool { return &s.IgnoreEOS }),

	number(Setting{Name: "temperature", Group: groupSampling, Help: "randomness; 0: greedy"}, 0, 2, func(s *Settings) **float64 { return &s.Temperature }),
	whole(Setting{Name: "top_k", Group: groupSampling, Help: "draw from the k most likely tokens; 0: all"}, 0, math.MaxInt32, func(s *Settings) **int { return &s.TopK }),
	number(Setting{Name: "top_p", Group: groupSampling, Help: "draw from the fewest tokens that have this probability together; 0 or 1: all"}, 0, 1, func(s *Settings) **float64 { return &s.TopP }),
	number(Setting{Name: "min_p", Group: groupSampling, Help: "draw from tokens with this share of the most likely one's probability"}, 0, 1, func(s *Settings) **float64 { return &s.MinP }),
	number(Setting{Name: "typical_p", Group: groupSampling, Help: "draw from the most typical tokens that have this probability together; 0 or 1: all"}, 0, 1, func(s *Settings) **float64 { return &s.TypicalP }),
	number(Setting{Name: "repetition_penalty", Group: groupSampling, Help: "makes tokens of the prompt and the text less likely; 1: no"}, 0.1, 10, func(s *Settings) **float64 { return &s.RepetitionPenalty }),
	number(Setting{Name: "presence_penalty", Group: groupSampling, Help: "taken from the logits of generated tokens"}, -2, 2, func(s *Settings) **float64 { return &s.PresencePenalty }),
	number(Setting{Name: "frequency_penalty", Group: groupSampling, Help: "taken from them once for each time"}, -2, 2, func(s *Settings) **float64 { return &s.FrequencyPenalty }),
	whole(Setting{Name: "no_repeat_ngram", Group: groupSampling, Help: "no n tokens in a row come twice; 0: they may"}, 0, 128, func(s *Settings) **int { return &s.NoRepeatNgram }),
	words(Setting{Name: "bad_words", Group: groupSampling, Help: "text that is not generated as the tokenizer writes it, with and without a space before it (repeatable)"}),
	wordIDs(Setting{Flag: "bad-words-ids", Group: groupSampling, Help: "token ids in a row that are not generated (repeatable)"}),
	ids(Setting{Name: "allowed_ids", Group: groupSampling, Help: "the only tokens that are drawn"}, func(s *Settings) *[]int32 { return &s.AllowedIDs }),
	biases(Setting{Name: "logit_bias", Group: groupSampling, Help: "added to the logits of tokens, from -100 to 100"}),
	seed(Setting{Name: "seed"}),

	whole(Setting{Name: "logprobs", Group: groupTold, Help: "log-probabilities of each token and of so many of the most likely, with --json; -1: none", Preset: "-1"}, -1, 50, func(s *Settings) **int { return &s.Logprobs }),
	yes(Setting{Name: "prompt_logprobs", Group: groupTold, Help: "those of the prompt, too, with as many of the most likely; with n of the first text alone"}, func(s *Settings) **bool { return &s.PromptLogprobs }),
	yes(Setting{Name: "kept_tokens", Group: groupTold, Help: "the tokens that each could have been, with --json"}, func(s *Settings) **bool { return &s.KeptTokens }),
	yes(Setting{Name: "score", Group: groupTold, Help: "compute the prompt and generate nothing, for --prompt-logprobs"}, func(s *Settings) **bool { return &s.Score }),
	yes(Setting{Name: "timestamps", Group: groupTold, Help: "when it began, each token came and it ended, with --json"}, func(s *Settings) **bool { return &s.Timestamps }),

	whole(Setting{Name: "n", Group: groupServed, Help: "texts for each prompt, drawn one by one", Preset: "1"}, 1, 128, func(s *Settings) **int { return &s.N }),
	whole(Setting{Name: "priority", Group: groupServed, Help: "higher goes first, with --scheduler-type priority"}, -100, 100, func(s *Settings) **int { return &s.Priority }),
	plain(Setting{Name: "adapter"}, func(s *Settings) **string { return &s.Adapter }),
	duration(Setting{Name: "timeout", Group: groupServed, Help: "ends it, with what there is, so long after the engine took it"}, func(s *Settings) **time.Duration { return &s.Timeout }),
	duration(Setting{Name: "first_token_timeout", Group: groupServed, Help: "ends it unless its first token has come by then"}, func(s *Settings) **time.Duration { return &s.FirstTokenTimeout }),
}
