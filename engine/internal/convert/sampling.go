package convert

import (
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
)

// Sampling is how tokens are drawn, but for a Processor.
func Sampling(p sampling.Params) *messages.Sampling {
	m := &messages.Sampling{
		RepetitionPenalty: p.RepetitionPenalty, PresencePenalty: p.PresencePenalty, FrequencyPenalty: p.FrequencyPenalty,
		NoRepeatNgram: p.NoRepeatNgram, MinNew: p.MinNew, Ends: p.Ends, Allowed: p.Allowed,
		Temperature: p.Temperature, TopK: p.TopK, TopP: p.TopP, MinP: p.MinP, TypicalP: p.TypicalP,
	}
	for _, b := range p.Bias {
		m.Bias = append(m.Bias, &messages.Bias{Id: b.ID, Value: b.Value})
	}
	for _, word := range p.BadWords {
		m.BadWords = append(m.BadWords, &messages.IdList{Ids: word})
	}
	if t := p.Tell; t != (sampling.Tell{}) {
		m.Tell = &messages.Tell{Logprobs: t.Logprobs, Top: t.Top, Kept: t.Kept, Prompt: t.Prompt}
	}
	return m
}

// SamplingOf reads it. The ranges are the engine's to check.
func SamplingOf(m *messages.Sampling) sampling.Params {
	t := m.GetTell()
	p := sampling.Params{
		RepetitionPenalty: m.GetRepetitionPenalty(), PresencePenalty: m.GetPresencePenalty(), FrequencyPenalty: m.GetFrequencyPenalty(),
		NoRepeatNgram: m.GetNoRepeatNgram(), MinNew: m.GetMinNew(), Ends: m.GetEnds(), Allowed: m.GetAllowed(),
		Temperature: m.GetTemperature(), TopK: m.GetTopK(), TopP: m.GetTopP(), MinP: m.GetMinP(), TypicalP: m.GetTypicalP(),
		Tell: sampling.Tell{Logprobs: t.GetLogprobs(), Top: t.GetTop(), Kept: t.GetKept(), Prompt: t.GetPrompt()},
	}
	if n := len(m.GetBias()); n > 0 {
		p.Bias = make([]sampling.Bias, n)
	}
	for i, b := range m.GetBias() {
		p.Bias[i] = sampling.Bias{ID: b.GetId(), Value: b.GetValue()}
	}
	if n := len(m.GetBadWords()); n > 0 {
		p.BadWords = make([][]int32, n)
	}
	for i, word := range m.GetBadWords() {
		p.BadWords[i] = word.GetIds()
	}
	return p
}
