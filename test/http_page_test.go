package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The commands of docs/http.md do what it says, on a server that is begun as it says.
func TestHTTPPage(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil || runtime.GOOS == "windows" {
		t.Skip("no curl")
	}
	page, err := os.ReadFile("../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	model, err := os.ReadFile("../checkpoint/tiny/model.safetensors")
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "model.safetensors"), model, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := &serving{}
	url, err := server.begin(command(t, "serve", "--listen", "127.0.0.1:0", "--weights-root", root, "--num-blocks", "64"))
	defer server.stop()
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, part := range strings.Split(string(page), "```sh\n")[1:] {
		commands, _, _ := strings.Cut(part, "```")
		script.WriteString(commands)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script.String())
	cmd.Env = append(os.Environ(), "URL="+url, "ROOT="+root)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := string(out)
	for _, want := range []string{
		`{"status":"paused","hold":null,"holds":1}`, `{"is_paused":true,"holds":1}`, `{"status":"resumed","holds":0}`,
		`{"version":"step-1","label":"step-1","kept":"default"`, `"kind":"xxh3-64","digest":"xxh3-64:`, `{"version":"default","label":"default","kept":"step-1"`,
		`"missing":[{"name":"model.norm.weight.indices","start":0,"end":4},`, `"missing_bytes":6`, `{"tensors":2,"bytes":6}`, `{"version":"step-2","label":"step-2","kept":"default","seconds":`, `{"adapters":[]}`,
	} {
		at := strings.Index(got, want)
		if at < 0 {
			t.Fatalf("no %s in what is left of\n%s", want, out)
		}
		got = got[at+len(want):]
	}
}
