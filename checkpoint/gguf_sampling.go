package checkpoint

import "math"

const ggufSampling = "general.sampling."

// readSampling reads what a file recommends of sampling: llama.cpp's converter makes it of
// generation_config.json (gguf-py/gguf/metadata.py), and llama.cpp's programs take it where
// the user says nothing (common/common.cpp). Whether tokens are drawn is not among it: they
// are where there is a temperature above 0, or a cut without one.
func (f *ggufFields) readSampling() Generation {
	g := Generation{
		Temperature: f.sampling("temp"), TopP: f.sampling("top_p"), MinP: f.sampling("min_p"),
		RepetitionPenalty: f.sampling("penalty_repeat"),
	}
	if k := f.sampling("top_k"); k != nil {
		whole := int(max(-1, min(*k, math.MaxInt32)))
		g.TopK = &whole
	}
	if g.Temperature != nil || g.TopP != nil || g.MinP != nil || g.TopK != nil {
		draws := g.Temperature == nil || *g.Temperature > 0
		g.DoSample = &draws
	}
	// The penalty is for so many of the last tokens, and for all of them where nothing is
	// said: the libraries of Hugging Face, for which it was recommended, know no other.
	switch last := f.sampling("penalty_last_n"); {
	case last == nil || *last < 0:
	case *last == 0:
		g.RepetitionPenalty = nil
	case g.RepetitionPenalty != nil && *g.RepetitionPenalty != 1:
		g.Other = append(g.Other, ggufSampling+"penalty_last_n")
	}
	for _, name := range []string{"mirostat", "xtc_probability"} {
		if x := f.sampling(name); x != nil && *x != 0 {
			g.Other = append(g.Other, ggufSampling+name)
		}
	}
	if f.text(ggufSampling+"sequence", "") != "" {
		g.Other = append(g.Other, ggufSampling+"sequence")
	}
	return g
}

// sampling reads a setting, a number of any type; nil: there is none.
func (f *ggufFields) sampling(name string) *float64 {
	key := ggufSampling + name
	x := math.NaN()
	switch v := f.meta[key].(type) {
	case nil:
		return nil
	case float64:
		x = v
	case int64:
		x = float64(v)
	case uint64:
		x = float64(v)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		f.fail(key, f.meta[key], "a finite number")
		return nil
	}
	return &x
}
