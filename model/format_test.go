package model

import (
	"encoding/json"
	"reflect"
	"testing"
)

// readOldAndNew reads what JSON wrote as Transformers 4 and 5 would: each without the
// names of the other.
func readOldAndNew(t *testing.T, c *Config) (older, newer *Config) {
	t.Helper()
	js, err := c.JSON()
	if err != nil {
		t.Fatal(err)
	}
	without := func(names ...string) *Config {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(js, &fields); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if fields[name] == nil {
				t.Errorf("there is no %s", name)
			}
			delete(fields, name)
		}
		part, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := ParseConfig(part)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	return without("rope_parameters", "dtype"), without("rope_theta", "rope_scaling", "torch_dtype")
}

func TestJSONForOlderLibraries(t *testing.T) {
	for _, rope := range []Rope{
		{Kind: RopeDefault, Theta: 100000},
		{Kind: RopeLinear, Theta: 5000, Factor: 4},
		{Kind: RopeLlama3, Theta: 500000, Factor: 8, OriginalMaxPosition: 8192, LowFreqFactor: 1, HighFreqFactor: 4},
		{Kind: RopeYarn, Theta: 1e6, Factor: 4, OriginalMaxPosition: 4096, BetaFast: 16, BetaSlow: 2, AttentionFactor: 1.5},
	} {
		c := &Config{Family: "llama", Vocab: 100, Hidden: 64, Intermediate: 128, Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 16, MaxPosition: 16384,
			NormEps: 1e-5, BOS: -1, Attn: make([]Attention, 1), Stored: BF16, Rope: rope}
		older, newer := readOldAndNew(t, c)
		if !reflect.DeepEqual(older, newer) || !reflect.DeepEqual(older.Rope, rope) || older.Stored != BF16 {
			t.Errorf("%s: older libraries read %+v, newer ones %+v", rope.Kind, older, newer)
		}
	}
}

func TestShortest(t *testing.T) {
	for x, want := range map[float64]float64{
		float64(float32(1e-5)): 1e-5,
		float64(float32(1e-6)): 1e-6,
		1e-5:                   1e-5, // no float32, so it was none
		0.25:                   0.25,
		1.00000001:             1.00000001,
	} {
		if got := shortest(x); got != want {
			t.Errorf("%v: got %v, want %v", x, got, want)
		}
	}
}
