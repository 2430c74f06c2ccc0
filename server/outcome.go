package server

import (
	"slices"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// usage counts the tokens of a call.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// add counts a sequence; those of one prompt count it once.
func (u *usage) add(sequence, n int, out *texts.Output) {
	if sequence%n == 0 {
		u.Prompt += out.Usage.PromptTokens
		u.Details.Cached += out.Usage.CachedTokens
	}
	u.Completion += out.Usage.CompletionTokens
	u.Total = u.Prompt + u.Completion
}

// finish is why a sequence ended, in OpenAI's words where it has one, and vLLM's
// stop_reason: the stop string, or the id of stop_token_ids.
func finish(out *texts.Output, stopIDs []int32) (reason string, by any) {
	switch out.FinishReason {
	case engine.FinishStop:
		if out.Stopped != "" {
			return "stop", out.Stopped
		}
		if n := len(out.TokenIDs); n > 0 && slices.Contains(stopIDs, out.TokenIDs[n-1]) {
			return "stop", out.TokenIDs[n-1]
		}
		return "stop", nil
	case engine.FinishLength:
		return "length", nil
	case engine.FinishDeadline:
		return "deadline", nil
	case engine.FinishStale:
		return "stale", nil
	}
	return "abort", nil
}
