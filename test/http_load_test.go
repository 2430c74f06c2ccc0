package test

import (
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/remote"
)

var (
	httpStreams = flag.Int("http.streams", 60, "streams of TestHTTPLoad at a time")
	httpTime    = flag.Duration("http.time", 3*time.Second, "how long TestHTTPLoad watches the server")
)

// Many streams over HTTP, of which every tenth is given up in its middle, disturb each other in
// nothing: each of the others has its tokens and one end. The server keeps its memory, and has all
// of its cache at the end.
func TestHTTPLoad(t *testing.T) {
	t.Parallel()
	s := &serving{}
	actors, err := s.begin(command(t, "serve", "--actors", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--num-blocks", fmt.Sprint(8**httpStreams)))
	t.Cleanup(s.stop)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	clients := cast[ended](t, part{Role: "streams", Address: <-s.ready, Name: "stream", Streams: *httpStreams})
	clients.says(4**httpStreams, soon) // so that all of the cache was used that is needed
	memory := watch(t, s.cmd, *httpTime)
	if err := clients.end(); err != nil {
		t.Error(err)
	}
	list := clients.ends(soon)
	took := time.Since(begun)

	want := kindTokens(t)
	gone, tokens := 0, 0
	for _, e := range list {
		tokens += len(e.Tokens)
		all := want[fmt.Sprint(e.Prompt)]
		switch {
		case e.Reason == vanished:
			gone++
			all = all[:min(len(e.Tokens), len(all))]
		case e.Reason != engine.FinishLength:
			t.Errorf("%s: %s %s", e.ID, e.Reason, e.Error)
		}
		if !slices.Equal(e.Tokens, all) {
			t.Errorf("%s: %v, want %v", e.ID, e.Tokens, all)
		}
	}
	t.Logf("%d streams at a time, %d in all, %d of them given up; %d tokens, %.0f a second", *httpStreams, len(list), gone, tokens, float64(tokens)/took.Seconds())
	t.Logf("MiB resident of the server, in quarters of the time: %d", memory)
	if memory[3] > memory[1]+memory[1]/10+8 {
		t.Error("its memory grows")
	}
	if m := rests(t, actors); m.Ended[engine.FinishCancelled]*10 < int64(gone)*9 {
		t.Errorf("%d streams were given up, and the engine has ended %v", gone, m.Ended)
	}
}

// watch is how much memory of a process is resident in each quarter of a time, in MiB, in the mean
// of some moments; 0 as resident has it.
func watch(t *testing.T, cmd *exec.Cmd, long time.Duration) (quarters [4]int64) {
	t.Helper()
	const moments = 5
	for i := range quarters {
		for range moments {
			time.Sleep(long / 4 / moments)
			quarters[i] += resident(t, cmd) / moments
		}
		quarters[i] >>= 20
	}
	return quarters
}

// kindTokens are the tokens of each kind of request, by its prompt.
func kindTokens(t *testing.T) map[string][]int32 {
	t.Helper()
	var asked []engine.Request
	for kind := range kinds {
		prompt, tokens := wanted(kind)
		asked = append(asked, engine.Request{PromptIDs: prompt, MaxNewTokens: tokens, IgnoreEOS: true})
	}
	outs, err := localEngine(t, checkpoint.Embedded).GenerateBatch(t.Context(), asked, engine.BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]int32{}
	for i, out := range outs {
		want[fmt.Sprint(asked[i].PromptIDs)] = out.TokenIDs
	}
	return want
}

// rests sees that an engine has nothing open, and all of its cache.
func rests(t *testing.T, address string) engine.Metrics {
	t.Helper()
	c, err := remote.Connect(t.Context(), address, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		m := c.Metrics()
		if m.Mode == "running" && m.Open == 0 && m.Holders == 0 && m.BlocksFree == m.Blocks {
			t.Logf("%d of %d blocks are free, %v", m.BlocksFree, m.Blocks, m.Ended)
			return m
		}
		if time.Now().After(deadline) {
			t.Fatalf("all clients have ended, and there is still %+v", m)
		}
	}
}
