package server

import (
	"net/http"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// versionParams are what a request may ask of the weights that compute it, and to be told
// of how its tokens were drawn.
type versionParams struct {
	MinVersion   string `json:"min_weight_version"`
	MaxStaleness *int   `json:"max_staleness"`
	KV           string `json:"kv_policy"`
	Processed    bool   `json:"processed_logprobs"`
}

// kvPolicies are what becomes of requests that have begun when weights change, by their names.
var kvPolicies = map[string]engine.KVPolicy{"keep": engine.KVKeep, "recompute": engine.KVRecompute, "abort": engine.KVAbort}

// policyOf is the policy that a parameter names; "": that of the other side.
func policyOf(param, name string) (engine.KVPolicy, error) {
	kv, known := kvPolicies[name]
	if !known && name != "" {
		return kv, bad(param, "is %.40q, must be keep, recompute or abort", name)
	}
	return kv, nil
}

// setVersions puts them into a request.
func (p *versionParams) setVersions(m *Model, r *texts.Request) (err error) {
	if p.MaxStaleness != nil {
		if err := within("max_staleness", float64(*p.MaxStaleness)); err != nil {
			return err
		}
	}
	r.MinVersion, r.MaxStaleness = m.version(p.MinVersion), p.MaxStaleness
	r.KV, err = policyOf("kv_policy", p.KV)
	return err
}

// provenance is what every answer tells of its tokens, in one object of its own: clients of
// OpenAI's are strict about those that it has.
type provenance struct {
	Weights *weightsTold `json:"x_weights,omitzero"`
	// Processed are the log-probabilities of the tokens in the distribution that each was
	// drawn from, behind temperature, penalties and filters; those of logprobs are by the
	// model's logits alone.
	Processed []float64 `json:"x_logprobs,omitzero"`
}

// weightsTold are the versions of the weights that made tokens. In a stream they come with
// the first chunk of a sequence and with those that change anything, of their own tokens,
// and complete with the last one.
type weightsTold struct {
	Spans []weightSpan `json:"spans"`       // which sampled: by places in the output; none: as before
	KV    []weightSpan `json:"kv,omitzero"` // which computed the cache that the last token came from, by places in prompt and output; nil: as before, and longer
}

// weightSpan says that weights of a version made what lies from Start on and before End.
type weightSpan struct {
	Version string `json:"version"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
}

// spans are versions as clients are told of them.
func (m *Model) spans(list []engine.VersionSpan) []weightSpan {
	told := make([]weightSpan, len(list))
	for i, s := range list {
		told[i] = weightSpan{m.label(s.Version), s.Start, s.End}
	}
	return told
}

// of tells of the tokens of a chunk; with out, of all that became of their sequence.
func (c *call) of(chunk *texts.Chunk, out *texts.Output) (p provenance) {
	switch {
	case out != nil:
		p.Weights = &weightsTold{c.model.spans(out.WeightVersions), c.model.spans(out.KVVersions)}
	case chunk.WeightVersions != nil || chunk.KVVersions != nil:
		p.Weights = &weightsTold{Spans: c.model.spans(chunk.WeightVersions)}
		if chunk.KVVersions != nil {
			p.Weights.KV = c.model.spans(chunk.KVVersions)
		}
	}
	if c.processed {
		p.Processed = processed(chunk.Logprobs)
	}
	return p
}

// add puts what is told later behind it.
func (p *provenance) add(next provenance) {
	p.Processed = append(p.Processed, next.Processed...)
	switch {
	case next.Weights == nil:
	case p.Weights == nil:
		p.Weights = next.Weights
	default:
		p.Weights.Spans = append(p.Weights.Spans, next.Weights.Spans...)
		if next.Weights.KV != nil {
			p.Weights.KV = next.Weights.KV
		}
	}
}

// empty says that there is nothing to tell, so that a chunk without text may be left out.
func (p *provenance) empty() bool { return p.Weights == nil && len(p.Processed) == 0 }

func processed(drawn []sampling.Drawn) []float64 {
	list := make([]float64, len(drawn))
	for i, d := range drawn {
		list[i] = finite(d.Sampled)
	}
	return list
}

// versionHeader has the version of the weights that serve when an answer begins.
const versionHeader = "X-Weight-Version"

// stamp puts it there, unless no weights serve.
func (m *Model) stamp(h http.Header) {
	if v := m.Engine.Version(); v != "" {
		h.Set(versionHeader, m.label(v))
	}
}
