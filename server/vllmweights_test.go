package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// pathOf is an update_info of a path, in the body that has it.
func pathOf(path string) object { return object{"update_info": object{"path": path}} }

// A trainer engine of one's own for vLLM's client sends a path, and gets a version of it, while
// requests go on: bodies are those of vLLM's client.
func TestWeightUpdateByPath(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	before := c.digest()
	running := c.background(completionsPath, long(40))
	c.moved(3)
	file := write(t, filepath.Join(dir, "step-1", "model.safetensors"), safetensors(t, c.tensors(2)))
	c.told("/init_weight_transfer_engine", `{"init_info":{}}`)
	for i, info := range []any{object{"path": filepath.Dir(file)}, []object{{"path": file}}, object{"weights_path": file}} {
		c.told("/start_weight_update", []string{"", "{}", `{"is_checkpoint_format":true}`}[i])
		c.control("/update_weights", object{"update_info": info}, &object{})
		if i == 0 {
			c.told("/finish_weight_update", "")
		} else {
			c.told("/finish_weight_update", `{"weight_version":"step"}`)
		}
		want := []weightsSaid{{Version: "step-1", Label: "step-1"}, {Version: "step", Label: "step"}, {Version: "step~2", Label: "step"}}[i]
		if w := c.weights(); w.Version != want.Version || w.Label != want.Label || c.digest() == before {
			t.Errorf("%v: %+v", info, w)
		}
	}
	c.told("/shutdown_weight_transfer_engine", "")
	c.hurried.Store(true)
	if a := <-running; a.Choices[0].FinishReason != "length" || len(a.Choices[0].IDs) != 40 {
		t.Errorf("%+v", a.Choices[0])
	}
	spans := c.generated(object{"token_ids": []int32{5}, "sampling_params": object{"max_tokens": 2, "ignore_eos": true}}).Choices[0].Versions
	if len(spans) != 1 || spans[0].Version != "step" {
		t.Errorf("%+v", spans)
	}
}

// full is an engine that has no memory for weights beside those that serve.
type full struct{ engine.API }

func (full) Update(context.Context, engine.UpdateOptions) (engine.Update, error) {
	return nil, fmt.Errorf("%w: on purpose", weights.ErrMemory)
}

// Where memory holds one set of weights others are written over it.
func TestWeightUpdateInPlace(t *testing.T) {
	c := serveChanging(t)
	c.server.models[0].Engine = full{c.engine}
	dir := t.TempDir()
	c.withRoots(dir)
	before := c.digest()
	path := write(t, filepath.Join(dir, "step-1.safetensors"), safetensors(t, c.tensors(2)))
	c.refused("/v1/weights/load", object{"path": path, "version": "a"}, 507, "", "update_memory")
	c.told("/start_weight_update", "")
	c.control("/update_weights", pathOf(path), &object{})
	c.told("/finish_weight_update", "")
	if w := c.weights(); w.Label != "step-1.safetensors" || c.digest() == before {
		t.Errorf("%+v", w)
	}
}

// Whatever is wrong leaves the weights as they are, and ends the update, so that the next one
// may begin.
func TestWeightUpdateRefused(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	before := c.digest()
	good := write(t, filepath.Join(dir, "good.safetensors"), safetensors(t, c.tensors(2)))
	const start, update, finish = "/start_weight_update", "/update_weights", "/finish_weight_update"
	for name, w := range map[string]struct {
		body        any
		status      int
		param, code string
	}{
		"TRL over NCCL": {object{"update_info": object{"names": []string{"a"}, "dtype_names": []string{"bfloat16"}, "shapes": [][]int{{1}}}}, 400, "update_info.dtype_names", "invalid_value"},
		"CUDA IPC":      {object{"update_info": object{"ipc_handles_pickled": "gASV"}}, 400, "update_info.ipc_handles_pickled", "invalid_value"},
		"two processes": {object{"update_info": []object{{"path": good}, {"path": good}}}, 400, "update_info", "invalid_value"},
		"no path":       {object{"update_info": object{}}, 400, "update_info", "invalid_value"},
		"nothing":       {object{}, 400, "update_info", "invalid_value"},
		"no object":     {object{"update_info": "a"}, 400, "update_info", "invalid_value"},
		"not there":     {pathOf(filepath.Join(dir, "other.safetensors")), 404, "update_info", "file_not_found"},
		"outside":       {pathOf("/etc/passwd"), 403, "update_info", "path_not_allowed"},
		"not weights":   {pathOf(write(t, filepath.Join(dir, "bad.safetensors"), []byte("no"))), 400, "", "bad_safetensors"},
	} {
		c.told(start, "{}")
		if message := c.refused(update, w.body, w.status, w.param, w.code); w.code == "invalid_value" && w.status == 400 && name != "two processes" && !strings.Contains(message, "/v1/weights/updates") {
			t.Errorf("%s: %s", name, message)
		}
		c.refused(finish, "{}", 409, "", "update_closed")
	}
	c.refused(update, pathOf(good), 409, "", "update_closed")
	for _, w := range []struct {
		list []tensor
		code string
	}{{c.tensors(2)[1:], "tensor_missing"}, {append(c.tensors(2), tensor{"other", "F32", []int{1}, make([]byte, 4)}), "tensor_not_found"}} {
		c.told(start, "{}")
		c.control(update, pathOf(write(t, filepath.Join(dir, "new.safetensors"), safetensors(t, w.list))), &object{})
		status, _, data := c.post(finish, "{}")
		if a := c.read(data); status/100 != 4 || a.Error == nil || value(a.Error.Code) != w.code {
			t.Errorf("%d %s, want %s", status, data, w.code)
		}
	}
	c.told(start, "{}")
	c.refused(start, "{}", 409, "", "update_open")
	c.refused("/shutdown_weight_transfer_engine", "", 409, "", "update_open")
	c.refused(finish, "{}", 400, "update_info", "invalid_value")
	c.told(start, "{}")
	c.control(update, pathOf(good), &object{})
	c.refused(update, pathOf(good), 400, "update_info", "invalid_value")
	c.refused(start, `{"is_checkpoint_format":false}`, 400, "is_checkpoint_format", "invalid_value")
	c.refused("/init_weight_transfer_engine", object{"init_info": object{"master_address": "10.0.0.1", "master_port": 51216, "rank_offset": 1, "world_size": 2, "packed": true}}, 400, "init_info.master_address", "invalid_value")
	if got := c.digest(); got != before || c.engine.Version() != engine.FirstVersion {
		t.Errorf("%s serves, with other weights", c.engine.Version())
	}
}

// An update that nothing is heard of ends by itself.
func TestHandoverLease(t *testing.T) {
	var h handover
	if err := h.begin(); err != nil || h.begin() != errHandover {
		t.Fatal(err)
	}
	h.until = h.until.Add(-handoverLease)
	if err := h.tell("a"); err != errNoHandover || !h.idle() {
		t.Errorf("%v", err)
	}
	if err := h.begin(); err != nil {
		t.Error(err)
	}
}

// prime-rl pauses, has a folder loaded, and goes on; requests keep their caches if it says so.
func TestWeightsAsPrimeRLLoadsThem(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	for i, keeps := range []bool{true, false} {
		c.hurried.Store(false)
		running := c.background(completionsPath, long(300))
		c.moved(4)
		c.pause(fmt.Sprintf("?mode=keep&clear_cache=%t", !keeps))
		folder := filepath.Join(dir, fmt.Sprintf("step_%d", i+1))
		write(t, filepath.Join(folder, "model.safetensors"), safetensors(t, c.tensors(2+i)))
		if a := c.told("/update_weights", fmt.Sprintf(`{"weight_dir":%q,"skip_prefix_cache_reset":true}`, folder)); a["status"] != "ok" || a["message"] != "the weights are updated" {
			t.Errorf("%v", a)
		}
		if label := c.weights().Label; label != filepath.Base(folder) {
			t.Errorf("the weights are called %q", label)
		}
		c.hurried.Store(true)
		c.resume("")
		a := <-running
		w := a.Choices[0].Weights
		if w == nil || len(w.Spans) != 2 || w.Spans[1].Version != filepath.Base(folder) || a.Choices[0].FinishReason != "length" {
			t.Fatalf("%+v", a.Choices[0])
		}
		if kept := len(w.KV) == 2; kept != keeps {
			t.Errorf("caches of %+v", w.KV)
		}
	}
	c.refused("/update_weights", `{"weight_dir":""}`, 400, "weight_dir", "invalid_value")
	c.refused("/update_weights", `{"weight_dir":null}`, 400, "update_info", "invalid_value")
}

// AReaL pauses, which gives its requests back with what they have, loads a folder, goes on and
// sends them again with what they had.
func TestWeightsAsAReaLLoadsThem(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	body := object{"top_p": 1.0, "top_k": 100_000_000, "max_tokens": 300, "temperature": 1.0, "stop_token_ids": []int{}, "ignore_eos": true,
		"skip_special_tokens": true, "return_tokens_as_token_ids": true, "logprobs": 0, "use_beam_search": false, "stream": false, "prompt": count(5)}
	running := c.background(completionsPath, body)
	c.moved(4)
	if a := c.told("/areal_pause_generation", "{}"); a["success"] != true {
		t.Errorf("%v", a)
	}
	first := (<-running).Choices[0]
	if n := len(first.Logprobs.Tokens); first.FinishReason != "abort" || n == 0 || n == 300 || len(first.Logprobs.Own) != n {
		t.Fatalf("%+v", first)
	}
	waiting := c.background(completionsPath, body)
	folder := filepath.Join(dir, "weight_update_v1")
	write(t, filepath.Join(folder, "model.safetensors"), safetensors(t, c.tensors(2)))
	if a := c.told("/areal_update_weights", fmt.Sprintf(`{"model_path":%q}`, folder)); a["success"] != true {
		t.Errorf("%v", a)
	}
	select {
	case a := <-waiting:
		t.Fatalf("under the pause a call was answered: %+v", a)
	default:
	}
	if a := c.told("/areal_continue_generation", "{}"); a["success"] != true {
		t.Errorf("%v", a)
	}
	c.hurried.Store(true)
	again := (<-waiting).Choices[0]
	if w := again.Weights; again.FinishReason != "length" || len(w.Spans) != 1 || w.Spans[0].Version != "weight_update_v1" {
		t.Errorf("%+v", again)
	}
	c.hurried.Store(false)
	body["max_tokens"] = 900
	running = c.background(completionsPath, body) // without a pause it is aborted, too
	c.moved(4)
	c.told("/areal_update_weights", fmt.Sprintf(`{"model_path":%q}`, folder))
	if a := (<-running).Choices[0]; a.FinishReason != "abort" {
		t.Errorf("%+v", a)
	}
	c.refused("/areal_update_weights", object{"model_path": folder, "load_format": "dummy"}, 400, "load_format", "invalid_value")
	c.refused("/areal_update_weights", object{"model_path": "/etc"}, 403, "model_path", "path_not_allowed")
}

// What needs another way to move weights is refused, with what to do.
func TestVLLMRefuses(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for _, path := range []string{"/start_draft_weight_update", "/collective_rpc", "/init_broadcaster", "/areal_update_weights_lora", "/areal_init_weights_update_group",
		"/areal_set_update_weight_meta", "/areal_set_update_weight_meta_lora", "/areal_update_weights_xccl", "/areal_update_weights_lora_xccl"} {
		if message := r.refused(path, object{"names": []string{"a"}}, 400, "", "not_supported"); !strings.HasPrefix(message, path+" is not supported: ") {
			t.Errorf("%s: %s", path, message)
		}
	}
}

// A load that fails leaves its label with the weights that have it.
func TestFailedLoadLeavesItsLabel(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	good := write(t, filepath.Join(dir, "good.safetensors"), safetensors(t, c.tensors(2)))
	half := write(t, filepath.Join(dir, "half.safetensors"), safetensors(t, c.tensors(2)[1:]))
	load := func(path string) int {
		status, _, _ := c.post("/update_weights_from_disk", object{"model_path": path, "weight_version": "step"})
		return status
	}
	if status := load(good); status != 200 {
		t.Fatal(status)
	}
	if status := load(half); status != 400 {
		t.Fatal(status)
	}
	c.ask(completionsPath, object{"prompt": "a", "max_tokens": 1, "min_weight_version": "step"})
	if status := load(good); status != 200 || c.weights().Label != "step" {
		t.Errorf("%d: %+v", status, c.weights())
	}
	c.ask(completionsPath, object{"prompt": "a", "max_tokens": 1, "min_weight_version": "step"})
}
