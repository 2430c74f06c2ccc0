package engine

import (
	"slices"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/sched"
)

// Sequence is where a Place tells what becomes of a sequence, on one goroutine at a time.
type Sequence struct{ record *record }

// ID is the sequence's id.
func (s Sequence) ID() string { return s.record.id }

// Prompt says which ids the prompt has become, where the Place has made them. It comes
// before anything else, and before the answer to the request.
func (s Sequence) Prompt(ids []int32) {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	s.record.prompt = slices.Clip(slices.Clone(ids))
}

// Take takes the next tokens as a Stream of the sequence has given them: each once, in
// order. The last chunk has the Final, the tokens of which are those that have come; one
// that tells neither times nor the versions of the cache leaves what is known of them. The chunk
// is the caller's again afterwards.
func (s Sequence) Take(c Chunk) {
	r := s.record
	cache := r.cache // only this goroutine changes it
	cache.Context += len(c.TokenIDs)
	if c.KVVersions != nil {
		cache = r.versions.known(c.KVVersions)
	}
	for at := 0; at < len(c.TokenIDs); {
		version, end := r.sampledBy(&c, at)
		news := actors.News{IDs: c.TokenIDs[at:end], Epoch: r.versions.epoch(version), Cache: cache}
		if len(c.Logprobs) == len(c.TokenIDs) {
			news.Drawn = c.Logprobs[at:end]
		}
		r.Tokens(news)
		at = end
	}
	if c.Final != nil {
		r.settle(c.Final)
	}
}

// sampledBy is the version that sampled a token of a chunk, by its place there, and where
// tokens of another one may begin.
func (r *record) sampledBy(c *Chunk, at int) (version string, end int) {
	for _, v := range c.WeightVersions {
		if from, to := v.Start-c.Offset, v.End-c.Offset; from <= at && at < to {
			return v.Version, min(to, len(c.TokenIDs))
		}
	}
	if n := len(r.weights); n > 0 { // as the token before
		version = r.weights[n-1].Version
	}
	return version, len(c.TokenIDs)
}

// settle ends a sequence as it has ended elsewhere.
func (r *record) settle(out *Output) {
	cache := r.cache
	if out.KVVersions != nil {
		cache = r.versions.known(out.KVVersions)
	}
	r.mu.Lock()
	if !out.Timing.Created.IsZero() {
		r.timing = out.Timing
		r.timing.Tokens = slices.Clone(out.Timing.Tokens)
	}
	r.promptLogprobs = appendDrawn([]sampling.Drawn(nil), out.PromptLogprobs)
	r.mu.Unlock()
	r.End(actors.End{Reason: out.FinishReason, Err: out.Err, Matched: out.Matched, Cached: out.Usage.CachedTokens,
		Preemptions: out.Preemptions, Cache: cache})
}

// known is a cache whose weights are told by the names of their versions.
func (v *versions) known(spans []VersionSpan) (c actors.Cache) {
	for _, s := range spans {
		c.Runs = append(c.Runs, sched.Run{Epoch: v.epoch(s.Version), Start: int32(s.Start)})
		c.Context = s.End
	}
	return c
}

// epoch is one of a version that is known by its name alone.
func (v *versions) epoch(version string) uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := len(v.names); i > 0; i-- { // it is a late one mostly
		if v.names[i-1] == version {
			return uint32(i)
		}
	}
	v.names = append(v.names, version)
	return uint32(len(v.names))
}
