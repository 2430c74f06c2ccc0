package server

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// Calls are ended by what they are called, and answered with what they have; others go on.
func TestAbortRequests(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 4096, Delay: func(*executor.Batch) { time.Sleep(time.Millisecond) }}, engine.Config{MaxContext: 20_000}, Options{})
	answers := map[string]<-chan told{}
	r.pause("?mode=keep") // so that all begin together
	for _, name := range []string{"a", "b", "c"} {
		answers[name] = r.background(generatePath, object{"request_id": name, "token_ids": []int32{5}, "sampling_params": object{"n": 2, "ignore_eos": true}})
	}
	r.until("all are there", func() bool { return r.engine.Metrics().Open == 6 })
	r.opened(3)
	r.resume("")
	r.until("all run", func() bool { return r.engine.Metrics().GeneratedTokens > 30 && r.engine.Metrics().Running == 6 })
	aborted := func(body string, want int, names ...string) {
		t.Helper()
		if a := r.told("/abort_requests", body); a["status"] != "aborted" || a["aborted"] != float64(want) {
			t.Errorf("%s: %v", body, a)
		}
		for _, name := range names {
			a := <-answers[name]
			delete(answers, name)
			if len(a.Choices) != 2 || a.Choices[0].FinishReason != "abort" || a.Choices[1].FinishReason != "abort" || len(a.Choices[1].IDs) == 0 {
				t.Errorf("%s: %+v", name, a)
			}
		}
		for name, c := range answers {
			select {
			case a := <-c:
				t.Errorf("%s was ended, too: %+v", name, a)
			default:
			}
		}
	}
	aborted(`{"request_ids":["b","other"]}`, 1, "b")
	aborted("{}", 2, "a", "c")
	aborted("", 0)
	r.resting()
}

// A call is found by the id that its answer has.
func TestAbortByTheAnswersID(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 4096, Delay: func(*executor.Batch) { time.Sleep(time.Millisecond) }}, engine.Config{MaxContext: 20_000}, Options{})
	resp := r.open(t.Context(), completionsPath, object{"prompt": "a", "max_tokens": 10_000, "ignore_eos": true, "stream": true, "return_token_ids": true})
	defer drop(t, resp)
	lines := bufio.NewScanner(resp.Body)
	lines.Scan()
	first := r.read(bytes.TrimPrefix(lines.Bytes(), []byte("data: ")))
	if !strings.HasPrefix(first.ID, "cmpl-") {
		t.Fatalf("%+v", first)
	}
	if a := r.told("/abort_requests", fmt.Sprintf(`{"request_ids":[%q]}`, first.ID)); a["aborted"] != 1.0 {
		t.Errorf("%v", a)
	}
	r.resting()
}
