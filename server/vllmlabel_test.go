package server

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// A label is another name for the weights that serve, and ends nothing unless it shall.
func TestUpdateWeightVersion(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	version := r.engine.Version()
	label := func() (told struct {
		Version string `json:"weight_version"`
	}) {
		t.Helper()
		if status := r.get("/weight_info", &told); status != 200 {
			t.Fatalf("%d", status)
		}
		return told
	}
	if l := label(); l.Version != version {
		t.Errorf("%+v, the engine says %q", l, version)
	}
	if a := r.told("/update_weight_version", `{"new_version":"step-3"}`); a["success"] != true || a["new_version"] != "step-3" {
		t.Errorf("%v", a)
	}
	if l := label(); l.Version != "step-3" || r.engine.Version() != version {
		t.Errorf("%+v, the engine says %q", l, r.engine.Version())
	}
	if v := r.generated(object{"token_ids": []int32{5}, "sampling_params": object{"max_tokens": 2}}).Choices[0].Versions; v[0].Version != "step-3" {
		t.Errorf("%+v", v)
	}
	r.refused("/update_weight_version", `{}`, 400, "new_version", "invalid_value")
	r.refused("/update_weight_version", object{"new_version": strings.Repeat("a", 257)}, 400, "new_version", "invalid_value")
	r.refused("/update_weight_version", `{"new_version":3}`, 400, "new_version", "invalid_value")
}

// SGLang's field is taken, its default is not.
func TestUpdateWeightVersionAborts(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 4096, Delay: func(*executor.Batch) { time.Sleep(time.Millisecond) }}, engine.Config{MaxContext: 20_000}, Options{})
	answer := r.background(completionsPath, long(19_000))
	r.until("it runs", func() bool { return r.engine.Metrics().GeneratedTokens > 3 })
	r.told("/update_weight_version", `{"new_version":"a"}`)
	time.Sleep(20 * time.Millisecond)
	select {
	case a := <-answer:
		t.Fatalf("it was ended: %+v", a)
	default:
	}
	r.told("/update_weight_version", `{"new_version":"b","abort_all_requests":true}`)
	if a := <-answer; a.Choices[0].FinishReason != "abort" {
		t.Errorf("%+v", a)
	}
}

// Weights that are named by their path alone are told apart, whatever their files are called.
func TestLabelsFromPaths(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	path := write(t, filepath.Join(dir, "actor", "model.safetensors"), safetensors(t, c.tensors(2)))
	for _, want := range []string{"actor", "actor~2", "actor~3"} {
		c.told("/areal_update_weights", fmt.Sprintf(`{"model_path":%q}`, path))
		if a := c.ask(completionsPath, long(1)).Choices[0]; a.Weights.Spans[0].Version != want || c.weights().Label != want {
			t.Errorf("%+v, want %s", a.Weights, want)
		}
	}
	for path, want := range map[string]string{"/a/step-1.safetensors": "step-1.safetensors", "/a/b/": "b", "/model.safetensors": "model.safetensors", "a/model.safetensors": "a", "model.safetensors": "model.safetensors"} {
		if got := pathName(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
