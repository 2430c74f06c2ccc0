package main

import (
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// A prompt is whole pages and a token, so that the pages are found in the cache.
func TestSyntheticPrompt(t *testing.T) {
	for _, c := range []struct{ context, page, want int }{
		{2, 32, 1}, {64, 32, 33}, {512, 32, 449}, {8192, 32, 8129}, {100, 16, 49}, {2, 1, 1}, {300, 1, 237}, {64, 4096, 1},
	} {
		f := syntheticFlags{batch: 1, context: c.context}
		if got := f.prompt(c.page); got != c.want {
			t.Errorf("context %d, pages of %d: %d tokens, want %d", c.context, c.page, got, c.want)
		}
	}
}

// What the cache does not hold at once is not measured.
func TestSyntheticHasRoom(t *testing.T) {
	info := engine.Info{PageSize: 32, Blocks: 20, MaxContext: 96, CacheTokens: 640, Settings: []engine.Setting{{Name: "safety_margin", Value: 0.1}}}
	for _, c := range []struct {
		batch, context int
		fits           bool
	}{{9, 64, true}, {10, 64, false}, {9, 65, false}, {18, 2, true}, {19, 2, false}} {
		if err := holds(&syntheticFlags{batch: c.batch, context: c.context}, info); (err == nil) != c.fits {
			t.Errorf("%d of %d tokens: %v", c.batch, c.context, err)
		}
	}
}

// What is refused is told with what helps.
func TestSyntheticRefusedInWords(t *testing.T) {
	info := engine.Info{PageSize: 32, Blocks: 20, MaxContext: 640, CacheTokens: 640, Settings: []engine.Setting{{Name: "safety_margin", Value: 0.15}}}
	for want, f := range map[string]syntheticFlags{
		"1 sequence of 640 tokens takes 20 blocks of the cache, which has room for 17: set --safety-margin, which is 0.15, lower": {1, 640},
		"21 sequences of 2 tokens take 21 blocks of the cache, which has room for 17: set --num-blocks":                           {21, 2},
		"--context is 641: there is room for 640, by the context of 640 tokens":                                                   {1, 641},
	} {
		if err := holds(&f, info); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestSyntheticInWords(t *testing.T) {
	m := syntheticMeasurement{Batch: 8, Context: 512, PrefillPerS: 1000, measurement: measurement{GeneratedPerS: 250, GeneratedTokens: 500, Seconds: 2}}
	if s := m.String(); !strings.Contains(s, "8 sequences to a context of 512: 250.0 tokens/s decoding (500 in 2.000 s)") {
		t.Errorf("told %q", s)
	}
}
