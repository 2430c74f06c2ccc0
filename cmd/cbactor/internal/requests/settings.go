package requests

import "time"

// Settings are what a request may ask for beside its prompt. What is nil was not
// said; an empty list was.
type Settings struct {
	MaxNewTokens, MinNewTokens *int
	Stop                       []string
	IncludeStop                *bool
	StopIDs                    []int32
	IgnoreEOS                  *bool

	Temperature, TopP, MinP, TypicalP                    *float64
	TopK, NoRepeatNgram                                  *int
	RepetitionPenalty, PresencePenalty, FrequencyPenalty *float64
	LogitBias                                            []Bias
	BadWords                                             []Word
	AllowedIDs                                           []int32
	Seed                                                 *uint64

	Logprobs                   *int // of so many of the most likely tokens; -1: none, not of the token drawn either
	PromptLogprobs, KeptTokens *bool
	Score, Timestamps          *bool
	N, Priority                *int
	Timeout, FirstTokenTimeout *time.Duration
}

// Bias is added to the logit of a token.
type Bias struct {
	ID    int32
	Value float64
}

// Word is what must not be generated: a text, or token ids.
type Word struct {
	Text string // "": IDs
	IDs  []int32
}
