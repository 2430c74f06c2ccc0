package server

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// serveAdapters serves a model with places for adapters, and gives the folder of one.
func serveAdapters(t *testing.T, places int) (r *rig, folder string) {
	t.Helper()
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
	r = serve(t, engine.Config{Checkpoint: model, Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64, Adapters: places, Vocab: 2048})}, Options{}, codec, nil)
	return r, filepath.Join("..", "test", "testdata", "adapters", "bf16")
}

// adapterFiles are those of an adapter's folder.
func adapterFiles(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range checkpoint.AdapterFiles {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

// form is a form of files.
func form(t *testing.T, files map[string][]byte) (data []byte, kind string) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, content := range files {
		part, err := w.CreateFormFile("file", name)
		if err == nil {
			_, err = part.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body.Bytes(), w.FormDataContentType()
}

// An adapter is loaded from a folder, or from what is sent, computes, and is unloaded.
func TestAdapters(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r, folder := serveAdapters(t, 2)
	r.refused("/v1/adapters", object{"name": "a", "path": folder}, 403, "path", "path_not_allowed")
	r.withRoots(folder)
	r.refused("/v1/adapters", object{"name": "tiny", "path": folder}, 400, "name", "adapter_name")
	var said adapterTold
	r.control("/v1/adapters", object{"name": "a", "path": folder}, &said)
	if said.Name != "a" || said.Rank == 0 || len(said.Modules) == 0 {
		t.Errorf("%+v", said)
	}
	files := adapterFiles(t, folder)
	data, kind := form(t, files)
	status, answer := r.send(http.MethodPut, "/v1/adapters/team/b", bytes.NewReader(data), "Content-Type", kind)
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	var list struct{ Adapters []adapterTold }
	if r.get("/v1/adapters", &list); len(list.Adapters) != 2 || len(r.weights().Adapters) != 2 {
		t.Errorf("%+v", list)
	}
	body := long(4)
	body["model"] = "team/b"
	if a := r.ask(completionsPath, body); !slices.Equal(a.Choices[0].IDs, executor.EchoRef(count(5), 4, 2048, 1+executor.EchoAdapter("team/b"))) {
		t.Errorf("%+v", a)
	}
	r.refused("/v1/adapters", object{"name": "c", "path": folder}, 409, "", "adapters_full")
	if status, answer := r.send(http.MethodDelete, "/v1/adapters/team/b", nil); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
	r.denied(http.MethodDelete, "/v1/adapters/team/b", nil, 404, "adapter_not_found")
	r.denied(http.MethodPut, "/v1/adapters/a", data, 400, "adapter_name", "Content-Type", kind)

	for name, change := range map[string]struct {
		files  map[string][]byte
		status int
		code   string
	}{
		"another file": {map[string][]byte{"../../adapter_config.json.sh": nil}, 400, "invalid_json"},
		"half":         {map[string][]byte{"adapter_config.json": files["adapter_config.json"]}, 400, "bad_adapter"},
		"broken":       {map[string][]byte{"adapter_config.json": files["adapter_config.json"], "adapter_model.safetensors": []byte("x")}, 400, "bad_adapter"},
		"too large":    {map[string][]byte{"adapter_model.safetensors": make([]byte, 3<<20)}, 413, "body_too_large"},
	} {
		r.server.limits.Adapter = 2 << 20
		data, kind := form(t, change.files)
		r.denied(http.MethodPut, "/v1/adapters/"+name[:1], data, change.status, change.code, "Content-Type", kind)
	}
	r.denied(http.MethodPut, "/v1/adapters/x", data, 415, "unsupported_media_type", "Content-Type", "application/octet-stream")
	r.denied(http.MethodPut, "/v1/adapters/x", data[:len(data)/2], 400, "invalid_json", "Content-Type", kind)
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "cbactor-adapter-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// What is sent of an adapter lies in TMPDIR until it is loaded, as containers must have it.
func TestAdapterInTheFolderOfTemporaryFiles(t *testing.T) {
	r, folder := serveAdapters(t, 1)
	data, kind := form(t, adapterFiles(t, folder))
	dir := filepath.Join(t.TempDir(), "tmp")
	t.Setenv("TMPDIR", dir)
	r.denied(http.MethodPut, "/v1/adapters/a", data, 500, "internal_error", "Content-Type", kind)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if status, answer := r.send(http.MethodPut, "/v1/adapters/a", bytes.NewReader(data), "Content-Type", kind); status != http.StatusCreated {
		t.Errorf("%d %s", status, answer)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
