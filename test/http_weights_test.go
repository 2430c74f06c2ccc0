package test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

// While 16 streams are read over HTTP, another process changes the weights over HTTP, by shards
// and by files in shared memory: no stream breaks, and each token is what the weights give that
// its answer names, computed again.
func TestHTTPWeights(t *testing.T) {
	t.Parallel()
	changeWeights(t, checkpoint.Embedded, 3*time.Second)
}

// The same with SmolLM2 in bf16; how long a file takes is compared with reading it.
func TestHTTPWeightsSmolLM2(t *testing.T) {
	full(t)
	asset(t, "smollm2-bf16") // skips without it
	path, err := checkpoint.Resolve("smollm2-bf16")
	if err != nil {
		t.Fatal(err)
	}
	changeWeights(t, path, 40*time.Second)
}

// fewestPushed is how many updates there are at least, however slow the machine is: by every way.
const fewestPushed = 4

func changeWeights(t *testing.T, model string, long time.Duration) {
	t.Helper()
	shared := os.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		shared = "/dev/shm"
	}
	folder, err := os.MkdirTemp(shared, "cbactor-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	s := &serving{}
	actors, err := s.begin(command(t, "serve", "--actors", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--model", model, "--num-blocks", "512", "--weights-root", folder))
	t.Cleanup(s.stop)
	if err != nil {
		t.Fatal(err)
	}
	url := <-s.ready
	clients := cast[ended](t, part{Role: "streams", Address: url, Name: "stream", Streams: 16})
	clients.says(1, soon)
	trainer := cast[pushed](t, part{Role: "pusher", Address: url, Model: model, Folder: folder})
	time.Sleep(long)
	trainer.says(max(0, fewestPushed-len(trainer.said())), soon)
	if err := trainer.end(); err != nil {
		t.Error(err)
	}
	updates := trainer.ends(soon)
	if err := clients.end(); err != nil {
		t.Error(err)
	}
	list := clients.ends(5 * soon)
	rests(t, actors)
	tellUpdates(t, updates)

	order := []string{engine.FirstVersion}
	for _, u := range updates {
		order = append(order, u.Version)
	}
	seen := map[string]bool{}
	for _, e := range list {
		if e.Reason != engine.FinishLength && e.Reason != vanished {
			t.Errorf("%s: %s %s", e.ID, e.Reason, e.Error)
		}
		at := -1
		for _, span := range e.Versions {
			seen[span.Version] = true
			place := slices.Index(order, span.Version)
			if place <= at {
				t.Errorf("%s: tokens by %v, there were %v one after the other", e.ID, e.Versions, order)
			}
			at = place
		}
	}
	list = slices.DeleteFunc(list, func(e ended) bool { return e.Reason == vanished })
	newChecker(t, model).check(t, list)
	t.Logf("%d requests have come to their ends, with tokens by %d of %d versions, and every token is as its version has it", len(list), len(seen), len(order))
	if len(seen) < 3 {
		t.Error("weights have hardly changed: the test shows little")
	}
}

// tellUpdates sees that each update has come to its end, and tells of their speed.
func tellUpdates(t *testing.T, list []pushed) {
	t.Helper()
	speeds := map[string][]float64{}
	for _, u := range list {
		if u.Error != "" {
			t.Errorf("update %s: %s", u.Version, u.Error)
			continue
		}
		mb := float64(u.Bytes) / 1e6
		if u.File {
			speeds["by file"] = append(speeds["by file"], mb/u.Sent)
			speeds["a plain read of the file"] = append(speeds["a plain read of the file"], mb/u.Read)
		} else {
			speeds["by shards"] = append(speeds["by shards"], mb/u.Sent)
		}
		speeds["until it serves (s)"] = append(speeds["until it serves (s)"], u.Commit)
	}
	for _, name := range []string{"by shards", "by file", "a plain read of the file"} {
		if len(speeds[name]) == 0 {
			t.Fatalf("no update %s", name)
		}
	}
	median := func(name string) float64 {
		slices.Sort(speeds[name])
		return speeds[name][len(speeds[name])/2]
	}
	t.Logf("%d updates of %d MB, in the median: by two shards at a time %.0f MB/s, by a file in shared memory %.0f MB/s, which the trainer reads at %.0f MB/s (%.0f %%); the commit takes %.2f s",
		len(list), list[0].Bytes/1e6, median("by shards"), median("by file"), median("a plain read of the file"), 100*median("by file")/median("a plain read of the file"), median("until it serves (s)"))
}
