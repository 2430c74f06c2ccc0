package engine

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/sched"
	"github.com/cbactor/cbactor/weights"
)

// A log is of weights that the engine knows.
func TestRecordNeedsWeights(t *testing.T) {
	if _, err := Spawn(t.Context(), Config{Executor: executor.NewEcho(executor.EchoConfig{}), Record: &traceFile{}}); !errors.Is(err, ErrConfig) {
		t.Errorf("got %v", err)
	}
}

// A log goes through all sessions of an engine and is whole, and closed once, when that
// is closed: each sequence has its end in it, one in the queue, too, and who was refused
// is not there.
func TestALogIsWholeWhenTheEngineIsClosed(t *testing.T) {
	f := &traceFile{}
	e := spawnTiny(t, Config{Record: f, MaxRequestsPerBatch: 2})
	if _, err := e.AddRequest(t.Context(), Request{ID: "refused"}); err == nil {
		t.Fatal("a request without a prompt is taken")
	}
	mustAdd(t, e, Request{ID: "a", PromptIDs: text(9), MaxNewTokens: 5, N: 2}).Wait(t.Context())
	if err := errors.Join(e.Stop(t.Context(), StopOptions{}), e.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"b", "c", "d", "e"} {
		mustAdd(t, e, Request{ID: id, PromptIDs: text(9), IgnoreEOS: true})
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	in, err := replaylog.NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]int{}
	for {
		entry, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry.Sequence != nil {
			ends[entry.Request.ID]++
		}
	}
	if ends["a"] != 2 || ends["b"] != 1 || ends["e"] != 1 || len(ends) != 5 || in.Open() != 0 || f.closed != 1 {
		t.Errorf("%v, %d open, closed %d times", ends, in.Open(), f.closed)
	}
}

// What is written in place is in the log with its own digest, before anything that it
// computes; what is broken is not.
func TestALogHasWhatIsWrittenInPlace(t *testing.T) {
	f := &traceFile{}
	e := spawnTiny(t, Config{Record: f})
	sets := []*trained{newTrained(t, 1), newTrained(t, 2)}
	var want []string
	for i, w := range sets {
		norm, _ := w.set.Tensor("model.norm.weight")
		change := func(time int) { norm.Data[0] ^= byte(time - 1) }
		if err := e.UpdateInPlace(t.Context(), UpdateOptions{Version: "v", Manifest: w.manifest}, w.sender(change)); !errors.Is(err, ErrBroken) {
			t.Fatal(err)
		}
		norm.Data[0] ^= 1
		if err := w.inPlace(t, e, fmt.Sprint("v", i), KVKeep); err != nil {
			t.Fatal(err)
		}
		greedy(t, e, text(9), 3)
		want = append(want, w.set.Digest(weights.XXH3_128).String())
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := replaylog.NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for entry, err := in.Next(); !errors.Is(err, io.EOF); entry, err = in.Next() {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Weights != nil && entry.Weights.Version != FirstVersion {
			got = append(got, entry.Weights.Digest)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("in the log are %v, want %v", got, want)
	}
}

// A cache that grows is one; one that was computed again is another, also by weights
// that had computed a part of it.
func TestCachesOfASequence(t *testing.T) {
	runs := func(epochAndStart ...int) (r []sched.Run) {
		for i := 0; i < len(epochAndStart); i += 2 {
			r = append(r, sched.Run{Epoch: uint32(epochAndStart[i]), Start: int32(epochAndStart[i+1])})
		}
		return r
	}
	for name, c := range map[string]struct {
		news []actors.Cache
		want []cached
	}{
		"one":                  {[]actors.Cache{{Runs: runs(1, 0), Context: 9}, {Runs: runs(1, 0), Context: 10}}, []cached{{0, runs(1, 0)}}},
		"kept":                 {[]actors.Cache{{Runs: runs(1, 0), Context: 9}, {Runs: runs(1, 0, 2, 9), Context: 10}}, []cached{{0, runs(1, 0, 2, 9)}}},
		"planned already":      {[]actors.Cache{{Runs: runs(1, 0, 2, 9), Context: 9}}, []cached{{0, runs(1, 0)}}},
		"computed again":       {[]actors.Cache{{Runs: runs(1, 0), Context: 9}, {Runs: runs(2, 0), Context: 10}}, []cached{{0, runs(1, 0)}, {1, runs(2, 0)}}},
		"again, partly as was": {[]actors.Cache{{Runs: runs(1, 0), Context: 9}, {Runs: runs(1, 0, 2, 8), Context: 10}}, []cached{{0, runs(1, 0)}, {1, runs(1, 0, 2, 8)}}},
		"again, by the last":   {[]actors.Cache{{Runs: runs(1, 0, 2, 8), Context: 9}, {Runs: runs(2, 0), Context: 10}}, []cached{{0, runs(1, 0, 2, 8)}, {1, runs(2, 0)}}},
	} {
		l := &logged{}
		for i, cache := range c.news {
			l.sampled(&actors.News{IDs: []int32{1}, Epoch: 1, Cache: cache}, i)
		}
		if !slices.EqualFunc(l.caches, c.want, func(a, b cached) bool { return a.first == b.first && slices.Equal(a.runs, b.runs) }) {
			t.Errorf("%s: %v, want %v", name, l.caches, c.want)
		}
	}
}

// The log has the digest of every epoch that tokens are of, also behind an update that
// could not compute.
func TestALogHasTheWeightsOfEveryEpoch(t *testing.T) {
	f := &traceFile{}
	e := spawnTiny(t, Config{Threads: 1, Record: f})
	w := newTrained(t, 1)
	u := w.begin(t, e, "v2", KVKeep)
	s := e.session.Load()
	able := s.ex
	s.ex = unable{able.(executor.Loader)}
	if err := errors.Join(w.send(u), u.Commit(t.Context())); !errors.Is(err, errUnable) {
		t.Fatal(err)
	}
	s.ex = able
	if err := errors.Join(e.Stop(t.Context(), StopOptions{}), e.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	greedy(t, e, text(9), 3)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := replaylog.NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	noted := map[uint32]bool{}
	for {
		entry, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry.Weights != nil {
			noted[entry.Weights.Epoch] = true
		}
		if entry.Sequence != nil && !noted[entry.Sequence.Sampled[0].Epoch] {
			t.Errorf("tokens are of epoch %d, known are %v", entry.Sequence.Sampled[0].Epoch, noted)
		}
	}
	if len(noted) != 2 {
		t.Errorf("known are %v", noted)
	}
}
