package server

import (
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// sglangAnswer is what SGLang tells of a sequence: all of it so far, in streams too.
type sglangAnswer struct {
	Text      string     `json:"text"`
	IDs       []int32    `json:"output_ids"`
	PromptIDs []int32    `json:"prompt_token_ids,omitzero"`
	Meta      sglangMeta `json:"meta_info"`
	Index     *int       `json:"index,omitzero"` // in streams of several
}

type sglangMeta struct {
	ID         string        `json:"id"`
	Finish     *sglangFinish `json:"finish_reason"` // null: it goes on
	Prompt     int           `json:"prompt_tokens"`
	Completion int           `json:"completion_tokens"`
	Cached     *int          `json:"cached_tokens,omitzero"` // known at the end, as what follows
	Retracted  *int          `json:"num_retractions,omitzero"`
	Seconds    *float64      `json:"e2e_latency,omitzero"`

	Version  string       `json:"weight_version"` // that sampled the last token; without one, that serves
	Versions []weightSpan `json:"weight_versions"`
	Weights  *weightsTold `json:"x_weights,omitzero"` // at the end

	Own       []sglangLogprob   `json:"output_token_logprobs,omitzero"`
	Top       [][]sglangLogprob `json:"output_top_logprobs,omitzero"`
	Processed []float64         `json:"output_token_sampling_logprobs,omitzero"` // in the distribution that was drawn from
	PromptOwn []sglangLogprob   `json:"input_token_logprobs,omitzero"`
	PromptTop []any             `json:"input_top_logprobs,omitzero"` // lists as in Top, null for the first token
}

// sglangLogprob is a log-probability, or null for the first token of a prompt, the token,
// and its text or null.
type sglangLogprob [3]any

// sglangFinish is why a sequence ended. SGLang knows three types, and says why in message.
type sglangFinish struct {
	Type    string  `json:"type"`
	Matched any     `json:"matched,omitzero"` // stop: the string or the id
	Length  *int    `json:"length,omitzero"`  // length: tokens
	Message *string `json:"message,omitzero"` // abort
}

// sglangAborts are the messages of sequences that were given up.
var sglangAborts = map[engine.FinishReason]string{
	engine.FinishCancelled: "the request was cancelled",
	engine.FinishAborted:   "a pause or an update of the weights gave the request up",
	engine.FinishDeadline:  "the request has taken longer than it may",
	engine.FinishStale:     "the weights are not those that the request wants",
}

// sglangFinished is why a sequence ended.
func sglangFinished(out *texts.Output) *sglangFinish {
	switch {
	case out.FinishReason == engine.FinishLength:
		return &sglangFinish{Type: "length", Length: new(len(out.TokenIDs))}
	case byID(out):
		return &sglangFinish{Type: "stop", Matched: out.TokenIDs[len(out.TokenIDs)-1]}
	case out.FinishReason == engine.FinishStop:
		return &sglangFinish{Type: "stop", Matched: out.Stopped}
	}
	message := sglangAborts[out.FinishReason]
	if len(out.TokenIDs) == 0 {
		message = "Abort before prefill was done: " + message // clients look for the first three words
	}
	return &sglangFinish{Type: "abort", Message: &message}
}

// answer is what is told of a sequence; out is nil before its end.
func (a *sglanging) answer(i int, out *texts.Output) sglangAnswer {
	ask, story := a.ask(i), a.told[i]
	id := ask.request.ID
	if child := i % a.shared.N; child > 0 {
		id = fmt.Sprintf("%s/%d", id, child)
	}
	answer := sglangAnswer{Text: a.shown(i, out), IDs: story.ids}
	answer.Meta = sglangMeta{ID: id, Prompt: len(a.promptOf(i)), Completion: len(story.ids), Processed: story.processed, Own: story.own, Top: story.top}
	if a.params.PromptIDs {
		answer.PromptIDs = a.promptOf(i)
	}
	versions := story.versions
	if out != nil {
		answer.Meta.end(out)
		versions = out.WeightVersions
		answer.Meta.Weights = &weightsTold{a.model.spans(versions), a.model.spans(out.KVVersions)}
	}
	answer.Meta.Version, answer.Meta.Versions = a.model.label(a.model.Engine.Version()), a.model.spans(versions)
	if n := len(versions); n > 0 {
		answer.Meta.Version = a.model.label(versions[n-1].Version)
	}
	return answer
}

// end tells what is known at the end of a sequence.
func (m *sglangMeta) end(out *texts.Output) {
	m.Finish = sglangFinished(out)
	m.Cached, m.Retracted = &out.Usage.CachedTokens, &out.Preemptions
	m.Seconds = new(out.Timing.Ended.Sub(out.Timing.Created).Seconds())
}

// addPrompt tells of the tokens of the prompt of a sequence, one of all of a call.
func (a *sglanging) addPrompt(m *sglangMeta, i int, outs []texts.Output) {
	ask := a.ask(i)
	m.PromptOwn = []sglangLogprob{}
	a.scored(i, ask.from, outs, func(id int32, d *sampling.Drawn) {
		if d == nil {
			m.PromptOwn, m.PromptTop = append(m.PromptOwn, sglangLogprob{nil, id, a.spelled(id)}), append(m.PromptTop, nil)
			return
		}
		m.PromptOwn, m.PromptTop = append(m.PromptOwn, a.logprob(d.Logprob, true)), append(m.PromptTop, a.likeliest(d.Top, true))
	})
	if ask.top == 0 {
		m.PromptTop = nil
	}
}
