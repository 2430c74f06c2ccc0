package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// admissible refuses, by the names that parameters have over HTTP, what an engine would refuse
// by its own, for a prompt of so many tokens.
func (c *call) admissible(r *texts.Request, prompt int) error {
	info := c.model.Engine.Info()
	unknown := func(param string, id int32) error {
		return &refusal{http.StatusBadRequest, fmt.Sprintf("%s has id %d, the vocabulary has %d", param, id, info.Vocab), param, engine.Code(engine.ErrVocab)}
	}
	if slices.Contains(r.BadWords, "") {
		return bad("bad_words", "has an empty text: leave it out")
	}
	for _, id := range r.StopIDs {
		if id < 0 || int(id) >= info.Vocab {
			return unknown("stop_token_ids", id)
		}
	}
	for _, b := range r.Sampling.Bias {
		if int(b.ID) >= info.Vocab {
			return unknown("logit_bias", b.ID)
		}
	}
	for _, id := range r.Sampling.Allowed {
		if id < 0 || int(id) >= info.Vocab {
			return unknown("allowed_token_ids", id)
		}
	}
	most := info.MaxContext - prompt
	if r.Score || r.MaxNewTokens > 0 {
		most = min(most, r.MaxNewTokens)
	}
	if least := int(r.Sampling.MinNew); least > most && prompt < info.MaxContext {
		return bad(c.least, "is %d, and at most %d tokens may come", least, most)
	}
	return nil
}

// sampled is the refusal of a sampling parameter by its name over HTTP; nil: err is none.
func sampled(err error) *refusal {
	var e *sampling.ParamError
	if !errors.As(err, &e) {
		return nil
	}
	names := strings.NewReplacer("allowed_ids", "allowed_token_ids", "min_new_tokens", "min_tokens")
	param := names.Replace(e.Field)
	return &refusal{http.StatusBadRequest, param + " " + names.Replace(e.Problem), param, engine.Code(engine.ErrParams)}
}
