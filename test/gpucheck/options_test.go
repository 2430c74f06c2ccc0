package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/gpuexec"
)

func TestParse(t *testing.T) {
	want := options{root: "/tree", out: "here", emulated: true, limit: 90 * time.Second}
	for _, args := range []string{
		"--emulated --out here --limit 1m30s --root /tree", "--root /tree --out here --limit 90s --emulated", "--root=/tree --out=here --emulated --limit=90s",
	} {
		if o, err := parse(strings.Fields(args)); err != nil || *o != want {
			t.Errorf("%s: %+v, %v", args, o, err)
		}
	}
	for args, part := range map[string]string{
		"--limit abc": "such as 5m", "--limit -1s": "such as 5m", "--limit 0": "such as 5m", "here --emulated": `"here" is no flag`, "--what": "-what", "--out": "out",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "--help") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestDriver chooses the driver, and where the record goes.
func TestDriver(t *testing.T) {
	root := newCheck(t).root
	bin, docs := filepath.Join(root, "bin", "gpu-check"), filepath.Join(root, "docs", "hardware")
	there, err := filepath.Abs("lib/libcuda.so.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set               string
		o                 options
		wantDriver, where string
	}{
		{"", options{}, "libcuda.so.1", docs},
		{"libother.so.1", options{}, "libother.so.1", docs},
		{"libother.so.1", options{driver: "lib/libcuda.so.1", out: "here"}, there, "here"},
		{"libother.so.1", options{emulated: true}, filepath.Join(bin, "emulated", "libcuda.so.1"), filepath.Join(bin, "record")},
	} {
		t.Setenv(gpuexec.Library, c.set)
		c.o.root = root
		if got, err := c.o.check(); err != nil || got.driver != c.wantDriver || got.out != c.where {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if _, err := (&options{root: root, emulated: true, driver: "libcuda.so.1"}).check(); err == nil {
		t.Error("a driver is called emulated")
	}
}

// TestIncomplete runs nothing where not all is there, and says what to do.
func TestIncomplete(t *testing.T) {
	for name, want := range map[string]struct {
		emulated bool
		do       string
	}{"gpuexec.test": {false, "make gpu-check"}, "gpubench": {true, "scripts/gpu-check-build"}, "emulated/libcuda.so.1": {true, "scripts/gpu-check-build"}} {
		c := newCheck(t)
		if err := os.Remove(filepath.Join(c.bin, name)); err != nil {
			t.Fatal(err)
		}
		_, err := run(t.Context(), &options{root: c.root, out: c.out, emulated: want.emulated, limit: time.Minute})
		if err == nil || !strings.Contains(err.Error(), filepath.Base(name)+": "+want.do) {
			t.Errorf("%s: %v", name, err)
		}
		for _, wrote := range []string{c.out, filepath.Join(c.logs, "driver.log")} {
			if _, err := os.Stat(wrote); err == nil {
				t.Errorf("%s: there is %s", name, wrote)
			}
		}
	}
}

// TestScript runs scripts/gpu-check in a tree of the test, where nothing is built, and where scripts are.
func TestScript(t *testing.T) {
	c := newCheck(t)
	script, err := os.ReadFile("../../scripts/gpu-check")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(c.root, "scripts")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	binary(t, folder, "gpu-check", string(script))
	binary(t, folder, "gpu-check-build", `echo "builds $*"`)
	for _, step := range []struct {
		built  bool
		args   string
		status int
		says   string
	}{
		{false, "--help", 0, "--limit DURATION"},
		{false, "--out here -h", 0, "usage:"},
		{false, "--limit 1m", 2, "make gpu-check"},
		{true, "--help", 0, "usage:"},
		{true, "--out here --emulated", 3, "builds --emulated\nruns --root " + c.root + " --out here --emulated\n"},
		{true, "--emulated --out here", 3, "builds --emulated\nruns --root " + c.root + " --emulated --out here\n"},
		{true, "--driver here", 3, "runs --root " + c.root + " --driver here\n"},
	} {
		if step.built {
			binary(t, c.bin, "gpucheck", `echo "runs $*"; exit 3`)
		}
		cmd := exec.Command(filepath.Join(folder, "gpu-check"), strings.Fields(step.args)...)
		cmd.Dir = t.TempDir()
		said, err := cmd.CombinedOutput()
		right := strings.Contains(string(said), step.says)
		if step.status == 3 {
			right = string(said) == step.says
		}
		if cmd.ProcessState.ExitCode() != step.status || !right {
			t.Errorf("%s: %v: %s", step.args, err, said)
		}
	}
}
