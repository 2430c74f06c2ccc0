package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// onDisk lets a server read weights from a folder.
func (r *rig) onDisk() (folder string) {
	r.t.Helper()
	folder = r.t.TempDir()
	r.withRoots(folder)
	return folder
}

// saved is a folder with weights, as a trainer leaves it behind a step.
func (c *changing) saved(folder, name string, turned int) string {
	c.t.Helper()
	return filepath.Dir(write(c.t, filepath.Join(folder, name, "model.safetensors"), safetensors(c.t, c.tensors(turned))))
}

// sglangSaid is what SGLang's control routes answer.
type sglangSaid struct {
	Success bool
	Message string
	Paused  *int              `json:"num_paused_requests"`
	Loaded  map[string]string `json:"loaded_adapters"`
	Error   string            `json:"error_message"`
	Whole   string            `json:"per_engine_checksum"`
	Ranks   []checked
}

// says sends a body to a control route.
func (r *rig) says(path string, body any, status int) (said sglangSaid) {
	r.t.Helper()
	got, _, data := r.post(path, body)
	if err := json.Unmarshal(data, &said); err != nil || got != status || said.Success != (status == 200) || said.Message+said.Error == "" != (said.Loaded != nil && status == 200) {
		r.t.Fatalf("%s %v: %d %s, want %d: %v", path, body, got, data, status, err)
	}
	return said
}

// AReaL's step with weights on disk: what is open is aborted with what it has, and goes on
// under the new weights when it is sent again.
func TestSglangAReaLStep(t *testing.T) {
	c := serveChanging(t)
	folder := c.onDisk()
	c.hurried.Store(true)
	want := []string{engine.FirstVersion}
	for step, name := range []string{"v1", "v2", "v2"} {
		called := []string{"v1", "v2", "v2~2"}[step]
		path := c.saved(folder, name, 3+step)
		c.hurried.Store(false)
		answer := make(chan sglangTold, 1)
		body := object{"input_ids": count(20), "return_logprob": true, "stream": false, "sampling_params": object{"max_new_tokens": 200, "ignore_eos": true}}
		go func() {
			defer close(answer)
			var a sglangTold
			c.sglang(body, &a)
			answer <- a
		}()
		c.moved(5)
		c.done("/pause_generation", object{})
		if said := c.says("/update_weights_from_disk", object{"model_path": path, "abort_all_requests": true}, 200); *said.Paused != 0 {
			t.Errorf("%+v", said)
		}
		c.done("/continue_generation", object{})
		part := <-answer
		if part.Meta.Finish.Type != "abort" || len(part.IDs) == 0 || len(part.Meta.Own) != len(part.IDs) || part.Meta.Version != want[step] {
			t.Errorf("step %d: %+v", step, part)
		}
		c.hurried.Store(true)
		var rest sglangTold
		c.sglang(object{"input_ids": append(count(20), part.IDs...), "return_logprob": true, "stream": false, "sampling_params": object{"max_new_tokens": 200 - len(part.IDs), "ignore_eos": true}}, &rest)
		want = append(want, called)
		if len(rest.IDs)+len(part.IDs) != 200 || rest.Meta.Version != called || rest.Meta.Cached != 0 {
			t.Errorf("step %d: %+v", step, rest)
		}
	}
}

// In the other modes of a pause nothing is lost by an update, and caches are computed again,
// or kept.
func TestSglangUpdateUnderPause(t *testing.T) {
	c := serveChanging(t)
	folder := c.onDisk()
	for name, mode := range map[string]string{"a": "in_place", "b": "retract"} {
		path := c.saved(folder, name, int(name[0]))
		c.hurried.Store(false)
		answer := make(chan sglangTold, 1)
		go func() {
			defer close(answer)
			var a sglangTold
			c.sglang(object{"input_ids": count(20), "sampling_params": object{"max_new_tokens": 300, "ignore_eos": true}}, &a)
			answer <- a
		}()
		c.moved(5)
		c.done("/pause_generation", object{"mode": mode})
		if said := c.says("/update_weights_from_disk", object{"model_path": path, "weight_version": "step " + name, "flush_cache": true, "torch_empty_cache": true, "token_step": 3, "load_format": nil, "keep_pause": false, "is_async": false, "recapture_cuda_graph": false, "manifest": nil}, 200); *said.Paused != 1 || !strings.Contains(said.Message, "step "+name) {
			t.Errorf("%+v", said)
		}
		c.done("/continue_generation", object{})
		c.hurried.Store(true)
		a := <-answer
		kv := a.Meta.Weights.KV
		if len(a.IDs) != 300 || a.Meta.Finish.Type != "length" || len(a.Meta.Versions) != 2 || a.Meta.Versions[1].Version != "step "+name || !covers(a.Meta.Versions, 300) || (len(kv) == 1) != (mode == "retract") {
			t.Errorf("%s: %+v, cache by %v", mode, a.Meta, kv)
		}
	}
}

// Without a pause an update waits for what has begun, so that nobody's tokens are of two
// versions; what is refused leaves the weights that serve.
func TestSglangUpdateDrains(t *testing.T) {
	c := serveChanging(t)
	folder := c.onDisk()
	path := c.saved(folder, "new", 5)
	answer := make(chan sglangTold, 1)
	go func() {
		defer close(answer)
		var a sglangTold
		c.sglang(object{"input_ids": count(20), "sampling_params": object{"max_new_tokens": 30, "ignore_eos": true}}, &a)
		answer <- a
	}()
	c.moved(5)
	before := c.says("/weights_checker", object{"action": "checksum"}, 200)
	c.says("/update_weights_from_disk", object{"model_path": path}, 200)
	if a := <-answer; len(a.IDs) != 30 || len(a.Meta.Versions) != 1 || a.Meta.Versions[0].Version != engine.FirstVersion {
		t.Errorf("%+v", a.Meta)
	}
	after := c.says("/weights_checker", object{}, 200)
	if before.Whole == after.Whole || after.Whole == "" || len(after.Ranks) != 1 || after.Ranks[0].Whole != after.Whole {
		t.Errorf("%+v, before %+v", after, before)
	}
	c.hurried.Store(false)
	aborted := make(chan sglangTold, 1)
	go func() {
		defer close(aborted)
		var a sglangTold
		c.sglang(object{"input_ids": count(20), "sampling_params": object{"max_new_tokens": 200, "ignore_eos": true}}, &a)
		aborted <- a
	}()
	c.moved(5)
	c.says("/update_weights_from_disk", object{"model_path": path, "abort_all_requests": true, "weight_version": "new"}, 200)
	if a := <-aborted; a.Meta.Finish.Type != "abort" || len(a.IDs) == 0 || a.Meta.Version != "new" {
		t.Errorf("%+v", a.Meta)
	}
	for _, body := range []object{
		{"model_path": "/etc"}, {"model_path": filepath.Join(folder, "none")}, {"model_path": ""}, {}, {"model_path": path, "load_format": "dummy"}, {"model_path": path, "manifest": object{"a": 1}},
		{"model_path": path, "weight_version": strings.Repeat("x", 300)}, {"model_path": 5}, {"model_path": path, "model": "other"},
	} {
		c.says("/update_weights_from_disk", body, 400)
	}
	write(t, filepath.Join(path, "model.safetensors"), []byte("junk"))
	c.says("/update_weights_from_disk", object{"model_path": path}, 400)
	if now := c.says("/weights_checker", object{"selector": "all"}, 200); now.Whole != after.Whole {
		t.Errorf("%+v, before %+v", now, after)
	}
	if rests, _ := c.server.models[0].paused(); rests {
		t.Error("it is paused")
	}
	for _, body := range []object{{"action": "snapshot"}, {"selector": "draft"}, {"skip_tensor_list": []string{"a"}}} {
		c.says("/weights_checker", body, 400)
	}
}

// Where memory has no place for two sets, weights are written over those that serve.
func TestSglangUpdateInPlace(t *testing.T) {
	model, codec := tinyModel(t)
	c := &changing{model: model}
	cfg := engine.Config{Checkpoint: model, NumBlocks: 64, MaxBatchTokens: 64}
	planned, err := engine.Resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := planned.Memory
	if m.Limit == 0 {
		t.Skip("how much memory there is cannot be told")
	}
	m.NextSet, m.Executor.NextSet = 0, 0
	cfg.MaxMemoryPercent = float64(m.Total()+m.WeightSet/2) / float64(m.Limit-m.Resident)
	c.rig = serve(t, cfg, Options{}, codec, nil)
	path := c.saved(c.onDisk(), "new", 5)
	before := c.says("/weights_checker", object{}, 200)
	c.says("/update_weights_from_disk", object{"model_path": path}, 200)
	if after := c.says("/weights_checker", object{}, 200); after.Whole == before.Whole {
		t.Error("the weights are those of before")
	}
	var a sglangTold
	if c.sglang(object{"input_ids": []int{1, 2}}, &a); a.Meta.Version != "new" {
		t.Errorf("%+v", a.Meta)
	}
}

// Adapters come and go by versioned names; one that is not there is no error to unload.
func TestSglangAdapters(t *testing.T) {
	model, err := checkpoint.Open(filepath.Join("..", "test", "testdata", "families", "llama"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	_, codec := tinyModel(t)
	r := serve(t, engine.Config{Checkpoint: model, Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64, Adapters: 1, Vocab: 2048})}, Options{}, codec, nil)
	folder := r.onDisk()
	path := filepath.Join(folder, "lora")
	if err := os.CopyFS(path, os.DirFS(filepath.Join("..", "test", "testdata", "adapters", "bf16"))); err != nil {
		t.Fatal(err)
	}
	if said := r.says("/load_lora_adapter", object{"lora_name": "actor-v1", "lora_path": path}, 200); len(said.Loaded) != 1 || said.Loaded["actor-v1"] == "" {
		t.Errorf("%+v", said)
	}
	body := object{"input_ids": count(5), "lora_path": "actor-v1", "sampling_params": object{"temperature": 0, "max_new_tokens": 4, "ignore_eos": true}}
	var a sglangTold
	if r.sglang(body, &a); !slices.Equal(a.IDs, executor.EchoRef(count(5), 4, 2048, 1+executor.EchoAdapter("actor-v1"))) {
		t.Errorf("%+v", a)
	}
	for _, bad := range []object{{"lora_name": "actor-v1", "lora_path": path}, {"lora_name": "x", "lora_path": "/etc"}, {"lora_path": path}, {"lora_name": "x"}, {"lora_name": 5}} {
		if said := r.says("/load_lora_adapter", bad, 400); said.Error == "" {
			t.Errorf("%+v", said)
		}
	}
	for range 2 {
		if said := r.says("/unload_lora_adapter", object{"lora_name": "actor-v1"}, 200); len(said.Loaded) != 0 {
			t.Errorf("%+v", said)
		}
	}
	r.refused(sglangPath, body, 404, "", "adapter_not_found")
}

// What cannot be had says what can; what needs nothing says so.
func TestSglangInstead(t *testing.T) {
	r := serveTiny(t, engine.Config{NumBlocks: 64}, Options{})
	for _, path := range []string{"/update_weights_from_tensor", "/update_weights_from_distributed", "/update_weights_from_ipc", "/init_weights_update_group", "/destroy_weights_update_group", "/load_lora_adapter_from_tensors", "/get_weights_by_name"} {
		if said := r.says(path, object{"names": []string{"a"}}, 400); !strings.Contains(said.Message, path) {
			t.Errorf("%+v", said)
		}
	}
	r.says("/begin_weight_update", object{"selector": "all"}, 200)
	r.says("/end_weight_update", "", 200)
}
