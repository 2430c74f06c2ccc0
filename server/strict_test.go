package server

import (
	"net/http"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// What nobody knows, and what is said twice and differs, is refused by our own routes of
// administrators, before they do anything; vLLM's and SGLang's ignore it, as those do.
func TestAdministratorsAreReadStrictly(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	for _, c := range []struct{ path, body, param string }{
		{"/pause?leese=5", "", "leese"},
		{"/pause?mode=keep", `{"mode":"abort"}`, "mode"},
		{"/pause?mode=keep&mode=wait", "", "mode"},
		{"/pause?lease=5", `{"lease":6}`, "lease"},
		{"/pause", `{"leese":5}`, "leese"},
		{"/resume?holt=a", "", "holt"},
		{"/v1/weights/load", `{"path":"/a","vershion":"a"}`, "vershion"},
		{"/v1/weights/load?kv=keep", `{"path":"/a","version":"a"}`, "kv"},
		{"/v1/weights/rollback", `{"to":"a"}`, "to"},
		{"/v1/weights/updates", `{"version":"a","manifest":{"tensors":[{"name":"a","type":"F32"}]}}`, "manifest.tensors.0.type"},
		{"/v1/weights/updates/a/commit?version=b", "", "version"},
		{"/v1/adapters", `{"name":"a","folder":"/a"}`, "folder"},
	} {
		r.refused(c.path, c.body, 400, c.param, "invalid_value")
	}
	for _, path := range []string{"/v1/weights?x=1", "/v1/weights/checksum?x=1", "/v1/weights/changes?x=1", "/v1/adapters?x=1", "/v1/weights/updates/a?x=1"} {
		r.denied(http.MethodGet, path, nil, 400, "invalid_value")
	}
	if p := r.isPaused(); p.Holds != 0 {
		t.Errorf("%+v", p)
	}
	var told pausedTold
	r.control("/pause?mode=keep&lease=5", `{"mode":"keep","lease":5,"model":"tiny"}`, &told) // the same twice
	if told.Hold == nil {
		t.Errorf("%+v", told)
	}
	r.control("/sleep?level=0&tag=a", nil, &sleepTold{})
	r.done("/pause_generation", `{"nobody":1}`)
}
