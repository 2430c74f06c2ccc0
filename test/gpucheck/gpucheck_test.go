package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/cuda/emu"
)

// said is what a test binary writes with -test.v: tests that pass, are left out and fail, and one in whose
// middle the process ends.
const said = `=== RUN   TestSound
--- PASS: TestSound (0.00s)
=== RUN   TestParts
=== RUN   TestParts/cubin
    rig_test.go:30: number 3 is 1, want 2
=== RUN   TestParts/ptx
    hardware.go:37: emulated device only: it is told to fail
--- FAIL: TestParts (0.10s)
    --- FAIL: TestParts/cubin (0.05s)
    --- SKIP: TestParts/ptx (0.05s)
=== RUN   TestLost
    lost_test.go:17: ` + emu.LosesDevice + `
--- SKIP: TestLost (0.00s)
=== RUN   TestCrashes
=== RUN   TestCrashes/inside
=== NAME  TestLost
fatal error: everything ends
`

func TestOutcome(t *testing.T) {
	got, err := outcomeOf(strings.NewReader(said))
	if err != nil {
		t.Fatal(err)
	}
	want := outcome{
		Passed:  1,
		Failed:  []string{"TestParts", "TestParts/cubin: number 3 is 1, want 2", "TestCrashes: has not ended", "TestCrashes/inside: has not ended"},
		Skipped: []skipped{{"TestParts/ptx", "emulated device only: it is told to fail"}, {"TestLost", emu.LosesDevice}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if alone := got.leftOut(emu.LosesDevice); !reflect.DeepEqual(alone, []string{"TestLost"}) {
		t.Errorf("%v", alone)
	}
}

// binary is a program of the shell in place of a test binary.
func binary(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// newCheck is a check in a folder of the test, whose binaries are scripts. kernels.test never ends, and
// has started somebody who does not either; gpuexec.test fails, and leaves somebody behind.
func newCheck(t *testing.T) *check {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh")
	}
	dir := t.TempDir()
	for _, folder := range []string{"cuda/kernels", "gpuexec", "bin/gpu-check/logs", "bin/gpu-check/emulated"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "bin", "gpu-check")
	driver := filepath.Join(bin, "emulated", "libcuda.so.1")
	c := &check{root: dir, bin: bin, logs: filepath.Join(bin, "logs"), out: filepath.Join(bin, "record"), driver: driver, emulated: true}
	binary(t, filepath.Dir(driver), "libcuda.so.1", "")
	binary(t, c.bin, "cuda.test", `if [ "$CBACTOR_TEST_LOSES" = 1 ]; then
	echo "=== RUN   TestLost"; echo "--- PASS: TestLost (0.00s)"; echo "$*" >../alone; exit
fi
echo "--- PASS: TestSound (0.00s)"
printf '=== RUN   TestLost\n    x_test.go:1: `+emu.LosesDevice+`\n--- SKIP: TestLost (0.00s)\n'`)
	binary(t, c.bin, "kernels.test", `echo "=== RUN   TestHangs"; sleep 1000 & echo $! >pid; echo hangs; sleep 1000`)
	binary(t, c.bin, "gpuexec.test", `sleep 1000 & echo $! >pid; [ "$CBACTOR_TEST_DRIVER" = '`+driver+`' ] && exit 3`)
	binary(t, c.bin, "gpubench", `while [ "$1" != --out ]; do shift; done; echo '{"device":1}' >"$2"; echo a table`)
	return c
}

// TestAll runs parts that pass, hang and fail: all are run, and the record has what came of them.
func TestAll(t *testing.T) {
	c := newCheck(t)
	report := filepath.Join(c.logs, "benchmark.json")
	var results []result
	for _, p := range c.parts(report) {
		ctx, cancel := context.WithCancel(t.Context())
		if p.name == "kernels" { // its deadline comes when it hangs
			go func() {
				defer cancel()
				for !hangs(c) {
					time.Sleep(time.Millisecond)
				}
			}()
		}
		results = append(results, c.run(ctx, &p))
		cancel()
	}
	left(t, c, "cuda/kernels")
	left(t, c, "gpuexec")
	var how []string
	for _, r := range results {
		how = append(how, r.Name+": "+r.Status)
	}
	if want := []string{"driver: passed", "kernels: " + late, "executor: failed", "benchmark: passed"}; !reflect.DeepEqual(how, want) {
		t.Fatalf("%q, want %q", how, want)
	}
	if got := results[1].Failed; len(got) != 1 || got[0] != "TestHangs: has not ended" {
		t.Errorf("%q", got)
	}
	r, err := c.newRecord(time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC), results, report)
	if err != nil {
		t.Fatal(err)
	}
	if r.Passed || string(r.Benchmark) != "{\"device\":1}\n" {
		t.Errorf("%+v", r)
	}
	out := filepath.Join(c.root, "out")
	if err := r.write(out, "a table\n"); err != nil {
		t.Fatal(err)
	}
	js, err := os.ReadFile(filepath.Join(out, "2026-03-04.json"))
	if err != nil || !json.Valid(js) {
		t.Errorf("%v: %s", err, js)
	}
	page, err := os.ReadFile(filepath.Join(out, "2026-03-04.md"))
	for _, part := range []string{"nothing of a GPU", "Commit unknown.\n", "| kernels | " + late, "TestHangs: has not ended", "a table"} {
		if err != nil || !strings.Contains(string(page), part) {
			t.Errorf("%v: the page has no %q: %s", err, part, page)
		}
	}
}

// hangs tells that kernels.test has begun to.
func hangs(c *check) bool {
	log, err := os.ReadFile(filepath.Join(c.logs, "kernels.log"))
	return err == nil && strings.Contains(string(log), "hangs")
}

// left looks for the process that a part has started in dir, where the system shows them.
func left(t *testing.T, c *check, dir string) {
	t.Helper()
	pid, err := os.ReadFile(filepath.Join(c.root, dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") { // or nobody has asked how it ended
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s runs on", pid)
}

// TestInterrupted interrupts the check while a part runs: that is killed, none follows, nothing is
// recorded.
func TestInterrupted(t *testing.T) {
	c := newCheck(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for !hangs(c) && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := run(ctx, &options{root: c.root, emulated: true, limit: time.Hour}); !errors.Is(err, errInterrupted) {
		t.Errorf("%v", err)
	}
	left(t, c, "cuda/kernels")
	if _, err := os.Stat(filepath.Join(c.root, "gpuexec", "pid")); err == nil {
		t.Error("another part was run")
	}
	if records, err := filepath.Glob(filepath.Join(c.out, "*")); err != nil || len(records) > 0 {
		t.Errorf("%v: %q", err, records)
	}
}

// TestNoTimeLeft has no time for any part: the record says so, and that nothing has passed.
func TestNoTimeLeft(t *testing.T) {
	c := newCheck(t)
	ok, err := run(t.Context(), &options{root: c.root, emulated: true, limit: 1})
	if ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	pages, err := filepath.Glob(filepath.Join(c.out, "*.md"))
	if err != nil || len(pages) != 1 {
		t.Fatalf("%v: %q", err, pages)
	}
	page, err := os.ReadFile(pages[0])
	for _, part := range []string{"| kernels | not reached | 0.0 | 0 | 0 | 0 |", "benchmark: the time of all parts was over"} {
		if err != nil || !strings.Contains(string(page), part) {
			t.Errorf("%v: the page has no %q: %s", err, part, page)
		}
	}
}

// TestNothingShown runs test binaries that end well, and have tested nothing, or not all.
func TestNothingShown(t *testing.T) {
	c := newCheck(t)
	for script, want := range map[string]string{
		"echo PASS":                        failed,
		`echo "--- SKIP: TestOne (0.00s)"`: failed,
		`echo "--- PASS: TestOne (0.00s)"; echo "=== RUN   TestTwo"`:            failed,
		`echo "=== RUN   TestOne"; echo "--- PASS: TestOne (0.00s)"; echo PASS`: passed,
	} {
		binary(t, c.bin, "gpuexec.test", script)
		p := c.tests("executor", "gpuexec", "gpuexec.test", time.Minute)
		if r := c.run(t.Context(), &p); r.Status != want {
			t.Errorf("%s: %+v", script, r)
		}
	}
}

// TestTestsThatLoseTheDevice runs them by themselves, by name.
func TestTestsThatLoseTheDevice(t *testing.T) {
	c := newCheck(t)
	binary(t, c.bin, "kernels.test", "exit 0")
	results := c.all(t.Context(), filepath.Join(c.logs, "benchmark.json"), func(result) {})
	if len(results) != 5 || results[1].Name != "driver TestLost" || results[1].outcome.Passed != 1 {
		t.Errorf("%+v", results)
	}
	args, err := os.ReadFile(filepath.Join(c.root, "alone"))
	if err != nil || !strings.Contains(string(args), "-test.run ^TestLost$") {
		t.Errorf("%v: it is run with %s", err, args)
	}
}

// TestMissingTool leaves a part out whose program is not there, and that is no failure.
func TestMissingTool(t *testing.T) {
	c := newCheck(t)
	r := c.run(context.Background(), &part{name: "memory", argv: []string{"no-such-sanitizer"}, asks: true, limit: time.Second})
	if r.Status != missing || !strings.Contains(r.Error, "no-such-sanitizer") {
		t.Errorf("%+v", r)
	}
}

func TestNoDriver(t *testing.T) {
	_, err := run(t.Context(), &options{root: newCheck(t).root, driver: "libnothing.so.1", limit: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "libnothing.so.1") && !strings.Contains(err.Error(), "CGO_ENABLED=1") {
		t.Errorf("%v", err)
	}
}
