package engine

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/model"
)

// goldenCase is one case of the tiny model's golden file: what the reference
// generates greedily, with each step's lead of first over second choice.
type goldenCase struct {
	PromptIDs []int32   `json:"prompt_ids"`
	Greedy    []int32   `json:"greedy"`
	Gap       []float64 `json:"gap"`
}

func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	data, err := os.ReadFile("../checkpoint/tiny/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Cases []goldenCase }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	return golden.Cases
}

func spawnTiny(t *testing.T, cfg Config) *Engine {
	t.Helper()
	return spawnChanged(t, cfg, func(c *model.Config) {})
}

// spawnChanged spawns the tiny model as another one, with the same tensors.
func spawnChanged(t *testing.T, cfg Config, change func(c *model.Config)) *Engine {
	t.Helper()
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	change(c.Config)
	return spawnOpened(t, cfg, c)
}

// spawnOpened spawns an engine with a checkpoint, and closes both.
func spawnOpened(t *testing.T, cfg Config, c *checkpoint.Checkpoint) *Engine {
	t.Helper()
	cfg.Checkpoint = c
	e, err := Spawn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Computed in float32, the greedy tokens are the reference's up to the first lead below 0.01: alone, in
// one batch, in small chunks, with small pages, and with a cache so small that
// requests are given up for each other.
func TestTinyModelGreedyIsTheReference(t *testing.T) {
	cases := goldenCases(t)
	for name, cfg := range map[string]Config{
		"default":         {},
		"small chunks":    {MaxBatchTokens: 12, MaxRequestsPerBatch: 12},
		"pages of 5":      {PageSize: 5},
		"small cache":     {PageSize: 16, NumBlocks: 24},
		"one by one":      {MaxRequestsPerBatch: 1},
		"one thread":      {Threads: 1},
		"plain attention": {Attention: "plain"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Compute, cfg.KVDType = "f32", "f32"
			e := spawnTiny(t, cfg)
			if got, want := e.Info().Attention, cmp.Or(cfg.Attention, "tiled"); got != want {
				t.Errorf("attention is %s, want %s", got, want)
			}
			var reqs []Request
			for _, c := range cases {
				reqs = append(reqs, Request{PromptIDs: c.PromptIDs, MaxNewTokens: 48})
			}
			outs, err := e.GenerateBatch(t.Context(), reqs, BatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for i, c := range cases {
				sure := len(c.Greedy)
				if low := slices.IndexFunc(c.Gap, func(g float64) bool { return g < 0.01 }); low >= 0 {
					sure = low
				}
				compared += sure
				if len(outs[i].TokenIDs) < sure || !slices.Equal(outs[i].TokenIDs[:sure], c.Greedy[:sure]) {
					t.Errorf("case %d: got %v, want %v", i, outs[i].TokenIDs, c.Greedy[:sure])
				}
			}
			t.Logf("golden: %d greedy tokens of %d cases equal", compared, len(cases))
		})
	}
}

// Sampled tokens depend on the request and its seed alone, not on company, chunks or arrival.
func TestTinyModelSampledAloneAndInCompany(t *testing.T) {
	cases := goldenCases(t)
	request := func(i int) Request {
		seed := uint64(1000 + i)
		r := Request{PromptIDs: cases[i%len(cases)].PromptIDs, MaxNewTokens: 40, Seed: &seed}
		r.Sampling.Temperature, r.Sampling.TopP = 0.8, 0.9
		return r
	}
	alone := make([]Output, 24)
	e := spawnTiny(t, Config{MaxRequestsPerBatch: 1})
	for i := range alone {
		s, err := e.AddRequest(t.Context(), request(i))
		if err != nil {
			t.Fatal(err)
		}
		alone[i] = s.Wait(t.Context())
	}
	crowd := spawnTiny(t, Config{MaxBatchTokens: 20, MaxRequestsPerBatch: 9, NumBlocks: 40})
	var reqs []Request
	seed := rand.Uint64()
	t.Logf("order by seed %d", seed)
	order := rand.New(rand.NewPCG(seed, 1)).Perm(len(alone))
	for _, i := range order {
		reqs = append(reqs, request(i))
	}
	outs, err := crowd.GenerateBatch(t.Context(), reqs, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for at, i := range order {
		if !slices.Equal(outs[at].TokenIDs, alone[i].TokenIDs) {
			t.Errorf("request %d: alone %v, in company %v", i, alone[i].TokenIDs, outs[at].TokenIDs)
		}
	}
}

// A forked sequence draws by its own number: it gives the same tokens when it found
// no slot to be forked into and was computed from the start, and others than its siblings.
func TestTinyModelForksDrawAlike(t *testing.T) {
	prompt := goldenCases(t)[0].PromptIDs
	var got [2][]Output
	for i, rows := range []int{0, 1} {
		e := spawnTiny(t, Config{MaxRequestsPerBatch: rows})
		seed := uint64(7)
		r := Request{ID: "a", PromptIDs: prompt, MaxNewTokens: 30, N: 4, Seed: &seed}
		r.Sampling.Temperature = 1
		var err error
		if got[i], err = e.GenerateBatch(t.Context(), []Request{r}, BatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		if !slices.Equal(got[0][i].TokenIDs, got[1][i].TokenIDs) {
			t.Errorf("sequence %d: forked %v, computed alone %v", i, got[0][i].TokenIDs, got[1][i].TokenIDs)
		}
		if i > 0 && slices.Equal(got[0][i].TokenIDs, got[0][0].TokenIDs) {
			t.Errorf("sequence %d is its parent again", i)
		}
	}
}
