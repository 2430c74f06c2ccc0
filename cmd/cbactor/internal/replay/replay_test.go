package replay

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/weights"
)

// trial is a run whose log is replayed.
type trial struct {
	config engine.Config
	how    string // what its trace must have
}

// Tokens of a run with changes of weights under way come again from its log: with forks
// of a prompt, where requests are given up for each other, recomputed or through the
// host pool, cancelled, sampled, penalised, and after a way back.
func TestARunReplays(t *testing.T) {
	for name, c := range map[string]trial{
		"roomy":       {config: engine.Config{MaxBatchTokens: 24, MaxRequestsPerBatch: 20}},
		"small cache": {config: engine.Config{PageSize: 8, NumBlocks: 40, MaxBatchTokens: 40, MaxRequestsPerBatch: 8}, how: `"how":"recompute"`},
		"int8":        {config: engine.Config{Compute: "int8", Quantize: "q4", KVDType: "bf16", MaxBatchTokens: 24, MaxRequestsPerBatch: 20}},
		"host pool":   {config: engine.Config{PageSize: 8, NumBlocks: 40, MaxBatchTokens: 40, MaxRequestsPerBatch: 8, CPUOffloadSpace: 0.02}, how: `"how":"host"`},
	} {
		t.Run(name, func(t *testing.T) {
			log, tr, outs := record(t, c.config)
			if !strings.Contains(tr, c.how) {
				t.Errorf("nobody was given up with %s", c.how)
			}
			generated, several := 0, 0
			for _, out := range outs {
				generated += len(out.TokenIDs)
				if len(out.WeightVersions) > 1 {
					several++
				}
			}
			s := replay(t, log)
			if s.First != nil {
				t.Errorf("%d of %d sequences differ: %s", s.Differ, s.Sequences, s.First)
			}
			if s.Sequences != len(outs) || s.Tokens != generated || s.Lost != 0 || s.Open != 0 || s.Torn {
				t.Errorf("%d outputs with %d tokens: %+v", len(outs), generated, s)
			}
			again, kept, _ := spans(t, log)
			t.Logf("%d tokens of %d sequences, %d sampled by several versions, %d caches of several, %d computed again", s.Tokens, s.Sequences, several, kept, again)
			if several < 5 || again < 3 || kept < 3 {
				t.Errorf("only %d sequences were sampled by several versions, %d caches computed by several, %d computed again", several, kept, again)
			}
		})
	}
}

// Forks that take over a cache that several versions have computed come again, too.
func TestForksOfSeveralVersionsReplay(t *testing.T) {
	for name, cfg := range map[string]engine.Config{
		"bf16": {MaxBatchTokens: 24},
		"int8": {Compute: "int8", Quantize: "q4", KVDType: "bf16", MaxBatchTokens: 24},
	} {
		t.Run(name, func(t *testing.T) {
			log := recordLong(t, cfg)
			if s := replay(t, log); s.First != nil || s.Lost != 0 || s.Open != 0 || s.Torn {
				t.Errorf("%d of %d sequences differ: %s; %+v", s.Differ, s.Sequences, s.First, s)
			}
			if _, _, forked := spans(t, log); forked == 0 {
				t.Error("no fork took over a cache of several versions")
			}
		})
	}
}

// A log in which one thing was changed is found out, and the place is named.
func TestWhatIsChangedInALogIsFound(t *testing.T) {
	log, _, _ := record(t, engine.Config{})
	long := func(s *replaylog.Sequence) bool { return len(s.Tokens) > 20 }
	for name, change := range map[string]func(q *replaylog.Request, s *replaylog.Sequence) bool{
		"token": func(q *replaylog.Request, s *replaylog.Sequence) bool {
			if s == nil || !long(s) {
				return false
			}
			s.Tokens[7] = (s.Tokens[7] + 1) % 100
			return true
		},
		"seed": func(q *replaylog.Request, s *replaylog.Sequence) bool {
			if q == nil || q.Sampling.Greedy() {
				return false
			}
			q.Seed ^= 1 << 40
			return true
		},
		"prompt": func(q *replaylog.Request, s *replaylog.Sequence) bool {
			if q == nil {
				return false
			}
			q.Prompt[len(q.Prompt)-1] ^= 1
			return true
		},
		"who sampled": func(q *replaylog.Request, s *replaylog.Sequence) bool {
			if s == nil {
				return false
			}
			end := int32(len(s.Tokens))
			for i := len(s.Sampled) - 1; i > 0; i-- {
				if s.Sampled[i].Start+1 < end { // else the log would be none
					s.Sampled[i].Start++
					return true
				}
				end = s.Sampled[i].Start
			}
			return false
		},
		"who computed, in generated tokens": func(q *replaylog.Request, s *replaylog.Sequence) bool {
			if s == nil || !long(s) || len(s.Caches[0].Runs) < 2 {
				return false
			}
			s.Caches[0].Runs[1].Start--
			return true
		},
		"which weights": func(q *replaylog.Request, s *replaylog.Sequence) bool {
			if s == nil || !long(s) || len(s.Caches) != 1 || len(s.Sampled) != 1 {
				return false
			}
			s.Sampled[0].Epoch = 1
			s.Caches[0].Runs[0].Epoch = s.Sampled[0].Epoch
			return true
		},
		"a recompute": func(q *replaylog.Request, s *replaylog.Sequence) bool {
			if s == nil || len(s.Caches) < 2 {
				return false
			}
			kept, again := &s.Caches[len(s.Caches)-2], s.Caches[len(s.Caches)-1]
			at := int32(again.First + promptLength - 1) // where the first token after it came from
			if again.Runs[0].Epoch <= kept.Runs[len(kept.Runs)-1].Epoch || len(again.Runs) > 1 && again.Runs[1].Start <= at || len(s.Tokens)-again.First < 10 {
				return false
			}
			kept.Runs = append(append(kept.Runs, replaylog.Run{Epoch: again.Runs[0].Epoch, Start: at}), again.Runs[1:]...)
			s.Caches = s.Caches[:len(s.Caches)-1]
			return true
		},
		"end": func(q *replaylog.Request, s *replaylog.Sequence) bool {
			if s == nil || s.Finish != "length" {
				return false
			}
			s.Finish = "stop"
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := replay(t, changed(t, log, change))
			if s.First == nil {
				t.Fatal("nothing is found")
			}
			t.Log(s.First)
		})
	}
}

// A log of what is computed otherwise than it is here is refused.
func TestOtherTypesAreRefused(t *testing.T) {
	log := &file{}
	e := spawn(t, engine.Config{Record: log})
	if _, err := e.GenerateBatch(t.Context(), []engine.Request{{PromptIDs: prompt(1), MaxNewTokens: 1}}, engine.BatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	in, first := begin(t, log.String())
	for name, change := range map[string]func(*replaylog.Header){
		"compute":   func(h *replaylog.Header) { h.Compute = "f8" },
		"quantize":  func(h *replaylog.Header) { h.Compute, h.Quantize = "int8", "q3" },
		"cache":     func(h *replaylog.Header) { h.KVType = "f8" },
		"attention": func(h *replaylog.Header) { h.Attention = "linear" },
	} {
		h := in.Header
		change(&h)
		p, err := New(Config{Model: tiny(t).Config, Header: h, First: first, Source: source(t), Threads: 1})
		if !errors.Is(err, ErrOther) {
			t.Errorf("%s: error %v", name, err)
		}
		if err == nil {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := New(Config{Model: tiny(t).Config, Header: in.Header, First: first, Source: source(t), Threads: -1})
	if !errors.Is(err, cpuexec.ErrConfig) || errors.Is(err, ErrOther) {
		t.Errorf("threads that are not the log's: error %v", err)
	}
}

// A request with code of the program's is counted, and not replayed. So is one with an adapter.
func TestAProcessorIsNotReplayed(t *testing.T) {
	log := &file{}
	e := spawn(t, engine.Config{Record: log})
	r := engine.Request{PromptIDs: prompt(1), MaxNewTokens: 5, N: 2}
	r.Sampling.Processor = noProcessor{}
	if _, err := e.GenerateBatch(t.Context(), []engine.Request{r, {PromptIDs: prompt(2), MaxNewTokens: 5}}, engine.BatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if s := replay(t, log.String()); s.Skipped != 2 || s.Compared != 1 || s.Tokens != 5 || s.Differ != 0 || s.Requests != 2 {
		t.Errorf("%+v", s)
	} else if told := s.Tell(); !strings.HasPrefix(told, "1 sequence, 5 tokens equal: nothing differs\n2 sequences not replayed: ") {
		t.Errorf("it tells %q", told)
	}
}

// Weights that are not those of the log are refused, with their version.
func TestOtherWeightsAreRefused(t *testing.T) {
	log := &file{}
	e := spawn(t, engine.Config{Record: log})
	if _, err := e.GenerateBatch(t.Context(), []engine.Request{{PromptIDs: prompt(1), MaxNewTokens: 5}}, engine.BatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	in, first := begin(t, log.String())
	first.Version = "v2" // has its weights in the source, but not their digest
	_, err := New(Config{Model: tiny(t).Config, Header: in.Header, First: first, Source: source(t)})
	if err == nil || !strings.Contains(err.Error(), `"v2"`) {
		t.Errorf("got %v", err)
	}
}

// A log with a byte changed replays, or is refused, or differs; nothing panics.
func TestHostileLogs(t *testing.T) {
	recorded := &file{}
	e := spawn(t, engine.Config{Record: recorded, Threads: 1, Seed: 5, WeightSets: 2})
	update(t, e, "v2", engine.KVKeep)
	for i := range 2 {
		r := request(i)
		r.MaxNewTokens = 6
		if _, err := e.GenerateBatch(t.Context(), []engine.Request{r}, engine.BatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	model, read := tiny(t).Config, map[string]*weights.Set{"default": version(t, "default"), "v2": version(t, "v2")}
	from := func(w replaylog.Weights) (*weights.Set, error) { return cmp.Or(read[w.Version], read["v2"]), nil }
	log := recorded.String()
	outcomes := map[string]int{}
	tries := 90
	if testing.Short() {
		tries /= 2
	}
	for i := range tries {
		bad := []byte(log)
		at, with := i*len(log)/tries, "0123456789-,{}[]\"e"[i%18]
		if digit := strings.IndexAny(log[at:], "0123456789"); i%2 == 0 && digit >= 0 { // the line stays one
			at, with = at+digit, '0'+byte(i/2%10)
		}
		bad[at] = with
		outcomes[outcome(t, string(bad), Config{Model: model, Source: from, Threads: 1, Slots: 2})]++
	}
	t.Log(outcomes)
	if outcomes["refused"] < tries*2/9 || outcomes["differs"] < tries/22 || outcomes["equal"] < tries/22 {
		t.Errorf("the outcomes are not all there: %v", outcomes)
	}
}

// outcome is what comes of a log.
func outcome(t *testing.T, log string, cfg Config) string {
	t.Helper()
	in, err := replaylog.NewReader(strings.NewReader(log))
	if err != nil {
		return "refused"
	}
	e, err := in.Next()
	if err != nil || e.Weights == nil {
		return "refused"
	}
	cfg.Header, cfg.First = in.Header, *e.Weights
	p, err := New(cfg)
	if err != nil {
		return "refused"
	}
	s, err := p.Run(t.Context(), in)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	switch {
	case err != nil:
		return "refused"
	case s.First != nil:
		return "differs"
	}
	return "equal"
}
