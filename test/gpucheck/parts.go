package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/emu"
)

// check is what is run, and where.
type check struct {
	root, bin, logs, out string // folders
	driver               string
	device               string // as the driver describes it; "": it is emulated
	emulated             bool
}

// parts are those that run one after the other, the benchmark's report in a file.
func (c *check) parts(report string) []part {
	kernels := c.tests("kernels", "cuda/kernels", "kernels.test", 2*time.Minute)
	parts := []part{
		c.tests("driver", "cuda", "cuda.test", time.Minute),
		kernels,
		c.tests("executor", "gpuexec", "gpuexec.test", 150*time.Second),
		{name: "benchmark", argv: c.benchmark(report), env: c.environment("kernels.so"), limit: 4 * time.Minute},
	}
	if c.emulated {
		return parts
	}
	for _, tool := range []string{"memcheck", "racecheck"} {
		sanitized := kernels
		sanitized.name, sanitized.asks, sanitized.limit = tool+" of kernels", true, 2*time.Minute
		sanitized.argv = append([]string{"compute-sanitizer", "--tool", tool, "--error-exitcode", "1"}, kernels.argv...)
		sanitized.argv = append(sanitized.argv, "-test.run", "/^cubin$")
		parts = append(parts, sanitized)
	}
	return parts
}

// tests is a part that runs a test binary in the folder of its package.
func (c *check) tests(name, dir, binary string, limit time.Duration) part {
	runner := "kernels.so"
	if dir == "cuda" {
		runner = "tests.so" // the kernels of its own tests
	}
	p := part{name: name, dir: dir, env: c.environment(runner), limit: limit, tests: true}
	p.argv = []string{filepath.Join(c.bin, binary), "-test.v"}
	if c.emulated {
		p.argv = append(p.argv, "-test.short", "-test.skip", "^TestConformance$|^TestGraphsConform$|Families|LongContext") // which take minutes
		p.limit *= 2
	}
	return p
}

// environment lets tests run on the driver that is checked.
func (c *check) environment(runner string) []string {
	env := []string{
		emu.HardwareVariable + "=" + c.driver,
		emu.LosesVariable + "=",                                // but of a part that says otherwise
		"CUDA_CACHE_PATH=" + filepath.Join(c.logs, "compiled"), // of PTX, by the driver: once a check, not once a test
	}
	if c.emulated {
		folder := filepath.Dir(c.driver)
		env = append(env, emu.RunnerVariable+"="+filepath.Join(folder, runner), cublaslt.PathVariable+"="+folder) // where there is none: NVIDIA's takes no fake driver
	}
	return env
}

func (c *check) benchmark(report string) []string {
	argv := []string{filepath.Join(c.bin, "gpubench"), "--driver", c.driver, "--out", report}
	if c.emulated {
		argv = append(argv, "--little", "--shape", "tiny")
	}
	return argv
}

// all runs the parts, and those tests by themselves that lose the device.
func (c *check) all(ctx context.Context, report string, tell func(result)) (results []result) {
	for _, p := range c.parts(report) {
		if errors.Is(ctx.Err(), context.Canceled) {
			return results // interrupted
		}
		r := c.run(ctx, &p)
		results = append(results, r)
		tell(r)
		for _, name := range r.leftOut(emu.LosesDevice) {
			alone := p
			alone.name = p.name + " " + name
			alone.argv = append(alone.argv[:len(alone.argv):len(alone.argv)], "-test.run", "^"+strings.ReplaceAll(name, "/", "$/^")+"$")
			alone.env = append(alone.env[:len(alone.env):len(alone.env)], emu.LosesVariable+"=1")
			alone.limit = 20 * time.Second
			r := c.run(ctx, &alone)
			results = append(results, r)
			tell(r)
		}
	}
	return results
}
