package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

// What is told of tokens over several updates is what the weights give that their spans
// name: the logits are computed again by engines that have no other weights, and turned
// into probabilities by the plain formulas.
func TestLogprobsAreOfTheWeightsNamed(t *testing.T) {
	w := newSwaps(t)
	e, g := spawnGated(t, Config{Threads: 1, PageSize: swapPage, WeightSets: 2}, nil)
	w.second.update(t, e, secondVersion, KVKeep)
	changeTo(t, e, FirstVersion)
	const n = 40
	ask := []sampling.Params{
		{},
		{Temperature: 0.7, TopK: 20},
		{Temperature: 1.3, TopP: 0.9, RepetitionPenalty: 1.2, Bias: []sampling.Bias{{ID: 7, Value: 4}}},
	}
	var open []*Stream
	g.left.Store(9)
	h := pause(t, e, PauseOptions{}) // none of them is over before the others come
	for i, p := range ask {
		p.Tell = sampling.Tell{Logprobs: true, Kept: true}
		open = append(open, mustAdd(t, e, seeded(Request{PromptIDs: salted(20+i, i), MaxNewTokens: n, Sampling: p})))
	}
	release(t, h)
	for i, version := range []string{secondVersion, FirstVersion, secondVersion} {
		<-g.reached
		if i < 2 {
			g.left.Store(11)
		}
		if err := <-g.changed(t, e, version, KVRecompute); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range open {
		out := s.Wait(t.Context())
		if len(out.WeightVersions) != 4 || len(out.KVVersions) != 1 || len(out.Logprobs) != n {
			t.Fatalf("%d log-probabilities of tokens by %v, cache of %v", len(out.Logprobs), out.WeightVersions, out.KVVersions)
		}
		for _, span := range out.WeightVersions {
			h := pause(t, w.fresh[span.Version], PauseOptions{})
			for at := span.Start; at < span.End; at++ {
				text := slices.Concat(out.PromptIDs, out.TokenIDs[:at])
				logits, err := h.Logits(t.Context(), text)
				if err != nil {
					t.Fatal(err)
				}
				told := out.Logprobs[at]
				raw, sampled := plainLogprobs(&ask[i], text, logits, told.Kept)
				if told.ID != out.TokenIDs[at] || off(told.Raw, raw[told.ID]) || off(told.Sampled, sampled[told.ID]) {
					t.Errorf("request %d, token %d by %s: told %+v, want %v and %v", i, at, span.Version, told.Logprob, raw[told.ID], sampled[told.ID])
				}
			}
			release(t, h)
		}
	}
}

func off(a float32, b float64) bool { return math.Abs(float64(a)-b) > 1e-5 }

// plainLogprobs are log-probabilities by a row of logits: raw ones, and in the
// distribution that a request draws from, of which kept ids are left.
func plainLogprobs(p *sampling.Params, text []int32, logits []float32, kept []int32) (raw, sampled []float64) {
	raw = make([]float64, len(logits))
	for i, v := range logits {
		raw[i] = float64(v)
	}
	sampled = slices.Clone(raw)
	for _, b := range p.Bias {
		sampled[b.ID] += float64(b.Value)
	}
	seen := slices.Compact(slices.Sorted(slices.Values(text)))
	for _, id := range seen {
		switch penalty := float64(p.RepetitionPenalty); {
		case penalty == 0:
		case sampled[id] > 0:
			sampled[id] /= penalty
		default:
			sampled[id] *= penalty
		}
	}
	for i := range sampled {
		if !slices.Contains(kept, int32(i)) {
			sampled[i] = math.Inf(-1)
		}
		if !p.Greedy() {
			sampled[i] /= float64(p.Temperature)
		}
	}
	logSoftmax(raw)
	logSoftmax(sampled)
	return raw, sampled
}

func logSoftmax(row []float64) {
	best, sum := slices.Max(row), 0.0
	for _, v := range row {
		sum += math.Exp(v - best)
	}
	for i := range row {
		row[i] -= best + math.Log(sum)
	}
}
