package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

// openLlama is the model that the test adapters are for.
func openLlama(t testing.TB) *checkpoint.Checkpoint {
	t.Helper()
	c, err := checkpoint.Open(filepath.Join("..", "test", "testdata", "families", "llama"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// peft is an adapter that PEFT has written: "patterns" or "bf16".
func peft(name string) fs.FS {
	return os.DirFS(filepath.Join("..", "test", "testdata", "adapters", name))
}

// spawnAdapters starts an engine over ECHO with adapters of those names.
func spawnAdapters(t testing.TB, ec executor.EchoConfig, cfg Config, names ...string) *Engine {
	t.Helper()
	cfg.Checkpoint = openLlama(t)
	e := spawnEcho(t, ec, cfg)
	for _, name := range names {
		if err := e.LoadAdapter(t.Context(), name, peft("bf16")); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// wantEcho checks a request's output against ECHO's formula.
func wantEcho(t *testing.T, what string, r Request, out Output) {
	t.Helper()
	if want := executor.EchoRef(r.PromptIDs, r.MaxNewTokens, echoVocab, 1+executor.EchoAdapter(r.Adapter)); out.Err != nil || !slices.Equal(out.TokenIDs, want) {
		t.Errorf("%s: %v (%v, %v), want %v", what, out.TokenIDs, out.FinishReason, out.Err, want)
	}
}

func generateOne(t *testing.T, e *Engine, r Request) Output {
	t.Helper()
	outs, err := e.GenerateBatch(t.Context(), []Request{r}, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return outs[0]
}

// Field report S9: an adapter and a salt of the same name share nothing, nor do two
// salts, nor an adapter with and without one; what is the same shares all whole blocks.
func TestS9AdaptersAndSaltsShareOnlyWithTheirOwn(t *testing.T) {
	e := spawnAdapters(t, executor.EchoConfig{Blocks: 200, Adapters: 2}, Config{}, "x", "y")
	const p = 100
	seen := map[[2]string]bool{}
	for _, key := range [][2]string{{"", ""}, {"x", ""}, {"", "x"}, {"x", ""}, {"y", ""}, {"", "y"}, {"x", "y"}, {"y", "x"}, {"x", "x"}, {"", "xx"}, {"", "x"}, {"x", "y"}, {"", ""}} {
		r := Request{PromptIDs: ids(p, 1), MaxNewTokens: 3, Adapter: key[0], Salt: key[1], IgnoreEOS: true}
		want := 0
		if seen[key] {
			want = 16 * ((p - 1) / 16)
		}
		seen[key] = true
		out := generateOne(t, e, r)
		wantEcho(t, fmt.Sprintf("%q", key), r, out)
		if out.Usage.CachedTokens != want {
			t.Errorf("adapter %q, salt %q: %d tokens are cached, want %d", key[0], key[1], out.Usage.CachedTokens, want)
		}
	}
}

// Requests with two adapters and with none run together, forked, and given up for each
// other where the cache is small, with and without a host pool.
func TestManyAdaptersInABatch(t *testing.T) {
	for _, ec := range []executor.EchoConfig{
		{Blocks: 500, Adapters: 2, Outstanding: 2},
		{Blocks: 14, Adapters: 2, Outstanding: 2},
		{Blocks: 14, Adapters: 2, Outstanding: 2, HostBlocks: 10, CopyCost: 0.1},
	} {
		e := spawnAdapters(t, ec, Config{}, "a", "b")
		var requests []Request
		for i := range 60 {
			requests = append(requests, Request{PromptIDs: ids(5+i, i%7), MaxNewTokens: 20 + i%9, N: 1 + i%3, Adapter: []string{"a", "", "b"}[i%3], IgnoreEOS: true})
		}
		outs, err := e.GenerateBatch(t.Context(), requests, BatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		at, given := 0, 0
		for i, r := range requests {
			for range r.N {
				wantEcho(t, fmt.Sprintf("%+v: request %d", ec, i), r, outs[at])
				given += outs[at].Preemptions
				at++
			}
		}
		if (given > 0) != (ec.Blocks < 100) {
			t.Errorf("%d blocks: sequences were given up %d times", ec.Blocks, given)
		}
	}
}

// What PEFT generates with its adapters comes from a batch with both and with none.
func TestAdaptersAreTheReference(t *testing.T) {
	e, err := Spawn(t.Context(), Config{Checkpoint: openLlama(t), MaxAdapters: 2, MaxAdapterRank: 4, Threads: 1, PageSize: 8, MaxBatchTokens: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	var requests []Request
	var want [][]int32
	for _, name := range []string{"", "patterns", "bf16"} {
		folder := peft(name)
		if name == "" {
			folder = os.DirFS(filepath.Join("..", "test", "testdata", "families", "llama"))
		} else if err := e.LoadAdapter(t.Context(), name, folder); err != nil {
			t.Fatal(err)
		}
		g := readGolden(t, folder)
		for i, p := range g.Prompts {
			if g.MinGap[i] > 1e-3 {
				requests = append(requests, Request{PromptIDs: p, MaxNewTokens: 24, Adapter: name, IgnoreEOS: true})
				want = append(want, g.Greedy[i])
			}
		}
	}
	outs, err := e.GenerateBatch(t.Context(), requests, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, out := range outs {
		if out.Err != nil || !slices.Equal(out.TokenIDs, want[i]) {
			t.Errorf("adapter %q: %v (%v), want %v", requests[i].Adapter, out.TokenIDs, out.Err, want[i])
		}
	}
	if i := e.Info(); len(outs) < 12 || i.Adapters != 2 || i.AdapterRank != 4 || i.Memory.Executor.Adapters == 0 {
		t.Errorf("%d requests; Info has %d adapters of rank %d in %d bytes", len(outs), i.Adapters, i.AdapterRank, i.Memory.Executor.Adapters)
	}
}

// Every refusal is of its class, comes before anything is queued, and leaves the name
// free, and the engine as it was.
func TestRefusedAdapters(t *testing.T) {
	e := spawnAdapters(t, executor.EchoConfig{Blocks: 64, Adapters: 2}, Config{}, "a")
	empty := fstest.MapFS{}
	long := string(make([]byte, maxAdapterName+1))
	for _, c := range []struct {
		name   string
		folder fs.FS
		class  error
	}{
		{"", peft("bf16"), ErrAdapterName},
		{long, peft("bf16"), ErrAdapterName},
		{"line\n", peft("bf16"), ErrAdapterName},
		{"\xff", peft("bf16"), ErrAdapterName},
		{"a", peft("bf16"), ErrAdapterName},
		{"b", empty, ErrAdapter},
		{"b", empty, checkpoint.ErrNotFound},
		{"b", fstest.MapFS{"adapter_config.json": {Data: []byte(`{"peft_type":"LORA","use_dora":true}`)}}, model.ErrUnsupported},
	} {
		if err := e.LoadAdapter(t.Context(), c.name, c.folder); !errors.Is(err, c.class) || !errors.Is(err, ErrRejected) {
			t.Errorf("%.20q: %v, want %v", c.name, err, c.class)
		}
	}
	unknown := Request{PromptIDs: ids(5, 1), MaxNewTokens: 1, Adapter: "b"}
	if _, err := e.AddRequest(t.Context(), unknown); !errors.Is(err, ErrUnknownAdapter) {
		t.Errorf("AddRequest: %v", err)
	}
	if _, err := e.AddRequests(t.Context(), []Request{{PromptIDs: ids(5, 1), MaxNewTokens: 1}, unknown}); !errors.Is(err, ErrUnknownAdapter) {
		t.Errorf("AddRequests: %v", err)
	}
	if err := e.UnloadAdapter(t.Context(), "b"); !errors.Is(err, ErrUnknownAdapter) {
		t.Errorf("UnloadAdapter: %v", err)
	}
	if err := e.LoadAdapter(t.Context(), "b", peft("patterns")); err != nil {
		t.Error(err)
	}
	if err := e.LoadAdapter(t.Context(), "c", peft("bf16")); !errors.Is(err, ErrAdapters) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("one too many: %v", err)
	}
	list := e.Adapters()
	if len(list) != 2 || list[0].Name != "a" || list[0].Rank != 3 || len(list[0].Modules) != 4 || list[1].Name != "b" || list[1].Rank != 4 || len(list[1].Modules) != 28 {
		t.Errorf("loaded are %+v", list)
	}
}

// Engines that can have none say so.
func TestEnginesWithoutAdapters(t *testing.T) {
	none := spawnAdapters(t, executor.EchoConfig{}, Config{})
	if err := none.LoadAdapter(t.Context(), "a", peft("bf16")); !errors.Is(err, ErrAdapters) {
		t.Errorf("no places: %v", err)
	}
	unknown := spawnEcho(t, executor.EchoConfig{Adapters: 1}, Config{})
	if err := unknown.LoadAdapter(t.Context(), "a", peft("bf16")); !errors.Is(err, ErrAdapter) {
		t.Errorf("no model: %v", err)
	}
	if err := unknown.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unknown.LoadAdapter(t.Context(), "a", peft("bf16")), unknown.UnloadAdapter(t.Context(), "a")); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
