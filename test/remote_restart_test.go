package test

import (
	"bytes"
	"strings"
	"syscall"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

// A server that is killed and started again ends what was open with an error that says so, once
// and soon, and serves the same clients with what they ask next.
func TestRemoteRestart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	reader := cast[ended](t, part{Role: "reader", Address: s.address, Name: "reader"})
	reader.says(10, soon)
	long := command(t, "generate", "--connect", s.address, "--json", "--requests", "-", "--ignore-eos")
	// One that ends soon, and others that are open then.
	long.Stdin = strings.NewReader(`{"prompt_ids":[1,2,3],"max_new_tokens":3}` + "\n" + strings.Repeat(`{"prompt_ids":[1,2,3],"max_new_tokens":900}`+"\n", 23))
	var stderr bytes.Buffer
	long.Stderr = &stderr
	results := follow[result](t, long)
	results.says(1, soon)

	s.signal(t, syscall.SIGKILL)
	again := newServer(t, "--actors", s.address)
	begin := len(reader.said())
	reader.says(20, soon)
	if err := reader.end(); err != nil {
		t.Error(err)
	}
	list := reader.ends(soon)
	var whole []ended
	restarted := 0
	for _, e := range list {
		switch {
		case e.Reason == engine.FinishLength:
			whole = append(whole, e)
		case strings.Contains(e.Error, "the engine has been restarted"):
			restarted++
		default:
			t.Errorf("%s: %s %s", e.ID, e.Reason, e.Error)
		}
	}
	if restarted == 0 || restarted > readers {
		t.Errorf("%d requests have ended with the engine, there were %d open", restarted, readers)
	}
	newChecker(t, checkpoint.Embedded).check(t, whole)
	t.Logf("%d requests before, %d after, %d ended with the engine", begin, len(list)-begin, restarted)

	ids, failed := map[string]bool{}, 0
	for _, r := range results.ends(soon) {
		if ids[r.RequestID] {
			t.Errorf("%s ends twice", r.RequestID)
		}
		if ids[r.RequestID] = true; r.FinishReason == "failed" {
			failed++
		}
	}
	if status := exitStatus(t, long.Wait()); status != 1 || failed == 0 || panicked.MatchString(stderr.String()) {
		t.Errorf("the command ends with status %d, %d failed: %s", status, failed, stderr.String())
	}
	again.signal(t, syscall.SIGTERM)
	if err := again.endsWith("exit status 0"); err != nil {
		t.Error(err)
	}
}
