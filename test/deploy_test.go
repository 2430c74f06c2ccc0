package test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The command by which the Dockerfile builds makes a program that needs nothing of a system,
// and which serves and finds itself healthy.
func TestDockerfileBuilds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("containers are of Linux")
	}
	if os.Getenv("CBACTOR_FULL") == "" {
		t.Skip("builds all again without cgo: set CBACTOR_FULL=1")
	}
	file, err := os.ReadFile("../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(file), "\nRUN CGO_ENABLED=0 go build ")
	line, _, _ := strings.Cut(rest, "\n")
	const out = " -o /out/cbactor ./cmd/cbactor"
	if !found || !strings.HasSuffix(line, out) {
		t.Fatalf("it builds by %q", line)
	}
	path := filepath.Join(t.TempDir(), "cbactor")
	build := exec.CommandContext(t.Context(), "sh", "-c", "CGO_ENABLED=0 go build "+strings.TrimSuffix(line, out)+` -o "$1" ./cmd/cbactor`, "sh", path)
	build.Dir = ".."
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	program, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := program.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it has a segment %v: a system must have its libraries", p.Type)
		}
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Env = []string{"CBACTOR_CACHE=" + t.TempDir()} // no home, no path, as in the container
		return cmd
	}
	if text, err := run("health", "http://127.0.0.1:1").CombinedOutput(); err == nil || !strings.Contains(string(text), "refused") {
		t.Errorf("nobody is healthy: %v: %s", err, text)
	}
	server := &serving{}
	url, err := server.begin(run("serve", "--listen", "127.0.0.1:0", "--num-blocks", "64"))
	defer server.stop()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := run("health", url).CombinedOutput(); err != nil || string(text) != "ok\n" {
		t.Errorf("its health: %v: %s", err, text)
	}
}

// systemd takes the unit as it is, where there is one to ask.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	unit, err := os.ReadFile("../deploy/cbactor.service")
	if err != nil {
		t.Fatal(err)
	}
	path, err := buildCommand()
	if err != nil {
		t.Fatal(err)
	}
	const installed = "/usr/local/bin/cbactor "
	if !strings.Contains(string(unit), "ExecStart="+installed) {
		t.Fatalf("it does not run %s", installed)
	}
	copied := filepath.Join(t.TempDir(), "cbactor.service")
	if err := os.WriteFile(copied, []byte(strings.ReplaceAll(string(unit), "="+installed, "="+path+" ")), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", copied).CombinedOutput(); err != nil || strings.Contains(string(text), "cbactor.service") {
		t.Errorf("%v: %s", err, text)
	}
}
