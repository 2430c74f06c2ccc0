package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// withRoots lets the server of a rig read in folders.
func (r *rig) withRoots(folders ...string) {
	r.t.Helper()
	roots, err := rootsOf(folders)
	if err != nil {
		r.t.Fatal(err)
	}
	r.server.roots = roots
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// K1, K3: no path leads out of the folders that are given, by whatever way, and none in
// without any.
func TestReportK1NoPathLeadsOut(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	allowed, outside := filepath.Join(dir, "allowed"), filepath.Join(dir, "outside")
	good := safetensors(t, c.tensors(2))
	inside := write(t, filepath.Join(allowed, "a.safetensors"), good)
	secret := write(t, filepath.Join(outside, "model.safetensors"), good)
	index := write(t, filepath.Join(allowed, "indexed", "model.safetensors.index.json"), []byte(`{"weight_map":{"a":"../../outside/model.safetensors"}}`))
	for link, to := range map[string]string{"file": secret, "folder": outside, "up": "..", "linked/model.safetensors": secret} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(allowed, link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(allowed, link)); err != nil {
			t.Skip(err)
		}
	}
	c.refused("/v1/weights/load", object{"path": inside, "version": "v2"}, 403, "path", "path_not_allowed")
	c.withRoots(allowed)
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		secret:              {403, "path_not_allowed"},
		outside:             {403, "path_not_allowed"},
		dir:                 {403, "path_not_allowed"},
		"/etc/passwd":       {403, "path_not_allowed"},
		"/":                 {403, "path_not_allowed"},
		"model.safetensors": {403, "path_not_allowed"},
		allowed + "/../outside/model.safetensors": {403, "path_not_allowed"},
		allowed + "x/a.safetensors":               {403, "path_not_allowed"},
		allowed + "/file":                         {403, "path_not_allowed"},
		allowed + "/folder":                       {403, "path_not_allowed"},
		allowed + "/folder/model.safetensors":     {403, "path_not_allowed"},
		allowed + "/up/outside":                   {403, "path_not_allowed"},
		allowed + "/linked":                       {403, "path_not_allowed"},
		filepath.Dir(index):                       {400, "bad_safetensors"},
		allowed + "/none":                         {404, "file_not_found"},
		allowed:                                   {404, "file_not_found"},
		allowed + "/\x00":                         {403, "path_not_allowed"},
		"":                                        {400, "invalid_value"},
	} {
		status, _, data := c.post("/v1/weights/load", object{"path": path, "version": "v2"})
		a := c.read(data)
		if status != want.status || a.Error == nil || value(a.Error.Code) != want.code {
			t.Errorf("%q: %d %s, want %d %s", path, status, data, want.status, want.code)
		}
	}
	if w := c.weights(); w.Version != engine.FirstVersion {
		t.Fatalf("%+v", w)
	}
	c.control("/v1/weights/load", object{"path": allowed + "/./indexed/../a.safetensors", "version": "v2"}, &updateSaid{})
	if c.weights().Version != "v2" {
		t.Error("a path within is not taken")
	}
	if _, err := New(Options{Models: c.server.models, WeightsRoots: []string{filepath.Join(dir, "none")}}); err == nil {
		t.Error("a root that is not there is taken")
	}
	if _, err := New(Options{Models: c.server.models, WeightsRoots: []string{inside}}); err == nil {
		t.Error("a root that is a file is taken")
	}
}

// A root that is reached by a link is taken by both of its names.
func TestRootByALink(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	write(t, filepath.Join(real, "a.safetensors"), safetensors(t, c.tensors(2)))
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	c.withRoots(link)
	for i, folder := range []string{link, real} {
		var said updateSaid
		c.control("/v1/weights/load", object{"path": filepath.Join(folder, "a.safetensors"), "version": fmt.Sprint("v", i)}, &said)
		if said.Version != fmt.Sprint("v", i) {
			t.Errorf("%+v", said)
		}
	}
	if _, err := New(Options{Models: c.server.models, WeightsRoots: []string{""}}); err == nil {
		t.Error("a root without a name is taken")
	}
}

// Files are read for an update like bodies, and may be gone then.
func TestUpdateByFiles(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	list := c.tensors(2)
	update := c.begin(object{"version": "v2", "manifest": manifest(list)})
	one := write(t, filepath.Join(dir, "1.safetensors"), safetensors(t, list[:4]))
	two := write(t, filepath.Join(dir, "2", "model.safetensors"), safetensors(t, list[4:]))
	c.refused(update+"/files", object{"paths": []string{}}, 400, "paths", "invalid_value")
	c.refused(update+"/files", object{"paths": []string{filepath.Join(dir, "none")}}, 404, "paths", "file_not_found")
	var said updateSaid
	c.control(update+"/files", object{"paths": []string{one, filepath.Dir(two)}}, &said)
	if said.Tensors != len(list) {
		t.Errorf("%+v", said)
	}
	if err := os.Remove(one); err != nil {
		t.Fatal(err)
	}
	c.control(update+"/commit", nil, &said)
	if said.Version != "v2" {
		t.Errorf("%+v", said)
	}
}

// Weights that are loaded from files at once are those that would have been sent, over what
// serves or beside it.
func TestLoad(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	list := c.tensors(2)
	path := write(t, filepath.Join(dir, "a", "model.safetensors"), safetensors(t, list))
	update := c.begin(object{"version": "v2", "manifest": manifest(list)})
	c.put(update, "1", safetensors(t, list))
	c.control(update+"/commit", nil, &updateSaid{})
	want := c.digest()
	c.control("/v1/weights/rollback", nil, &updateSaid{})
	for _, in := range []object{{"path": path, "version": "v3"}, {"path": filepath.Dir(path), "version": "v4", "in_place": true, "kv_policy": "recompute"}} {
		var said updateSaid
		c.control("/v1/weights/load", in, &said)
		if said.Version != in["version"] || said.Label != said.Version || said.Seconds <= 0 || c.digest() != want {
			t.Errorf("%v: %+v", in, said)
		}
	}
	c.refused("/v1/weights/load", object{"path": path}, 400, "version", "invalid_value")
	c.refused("/v1/weights/load", object{"path": path, "version": "v4"}, 409, "", "wrong_version")
	c.refused("/v1/weights/load", object{"path": path, "version": "v5", "base": "v3"}, 409, "", "wrong_version")
	write(t, path, []byte("broken"))
	c.refused("/v1/weights/load", object{"path": path, "version": "v5"}, 400, "", "bad_safetensors")

	// Those who load for clients that use labels again.
	write(t, path, safetensors(t, list))
	for _, version := range []string{"step", "step~2"} {
		told, err := c.server.loadWeights(t.Context(), &c.server.models[0], loadOptions{param: "path", path: path, label: "step"})
		if err != nil || told.Version != version || told.Label != "step" {
			t.Errorf("%+v, %v", told, err)
		}
	}
	if w := c.weights(); w.Version != "step~2" || w.Label != "step" {
		t.Errorf("%+v", w)
	}
}

// A file of a part of the weights says of itself what it is made from.
func TestDelta(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	list := c.tensors(0)
	i := slices.IndexFunc(list, func(t tensor) bool { return t.name == "model.norm.weight" })
	norm := list[i]
	delta := func(value byte) []tensor {
		width := len(norm.data) / norm.shape[0]
		values := make([]byte, 2*width)
		for at := range 2 {
			values[at*width+width-1], values[at*width+width-2] = 0x40, value // some number between 2 and 4
		}
		return []tensor{{norm.name + ".indices", "I32", []int{2}, []byte{1, 0, 0, 0, 3, 0, 0, 0}}, {norm.name + ".values", norm.dtype, []int{2}, values}}
	}
	c.refused(updatesPath, object{"version": "d1", "manifest": manifest(delta(0))}, 409, "", "wrong_version") // of what?
	asked := manifest(delta(0))
	asked["partial"] = true
	update := c.begin(object{"version": "d1", "base": engine.FirstVersion, "manifest": asked})
	c.put(update, "d", safetensors(t, delta(0)))
	var said updateSaid
	c.control(update+"/commit", nil, &said)
	first := c.digest()
	path := write(t, filepath.Join(dir, "d.safetensors"), safetensors(t, delta(0x20), "sparse", "true", "base_version", "d1", "model_version", "d2"))
	c.control("/v1/weights/load", object{"path": path}, &said)
	if said.Version != "d2" || said.Kept != "d1" || c.digest() == first {
		t.Errorf("%+v", said)
	}
	c.refused("/v1/weights/load", object{"path": path, "version": "d3"}, 409, "", "wrong_version") // its base serves no more
	c.refused("/v1/weights/load", object{"path": path, "version": "d3", "base": "d2", "partial": false}, 409, "", "tensor_missing")
	update = c.begin(object{"version": "d3", "base": "d2", "manifest": asked})
	c.denied(http.MethodPut, update+"/shards/1", safetensors(t, changedTensor(delta(0), func(t *tensor) { t.data[0] = 3 })), 400, "tensor_index")
}
