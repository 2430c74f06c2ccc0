package server

import (
	"net/http"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// A call that is given up before its prompt is computed has no log-probabilities of that, and
// is answered like others.
func TestPromptLogprobsOfWhatWasGivenUp(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	hold, err := r.engine.Pause(t.Context(), engine.PauseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for path, body := range map[string]object{
		completionsPath: {"prompt": []int32{1, 400, 300}, "echo": true, "logprobs": 1, "n": 2},
		"/generate":     {"input_ids": []int32{1, 400, 300}, "return_logprob": true, "logprob_start_len": 0, "sampling_params": object{"n": 2}},
	} {
		status := make(chan int, 1)
		go func() {
			got, _, _ := r.post(path, body)
			status <- got
		}()
		r.opened(1)
		r.server.open.abort(nil, nil)
		if got := <-status; got != http.StatusOK {
			t.Errorf("%s: %d", path, got)
		}
	}
	if err := hold.Release(""); err != nil {
		t.Fatal(err)
	}
	r.resting()
}
