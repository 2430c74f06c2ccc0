package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cbactor/cbactor/cuda"
)

// options are the program's flags.
type options struct {
	root, bin, out, driver string
	emulated               bool
	limit                  time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the repository")
	flag.StringVar(&o.bin, "bin", "bin/gpu-check", "folder of what gpu-check-build has built")
	flag.StringVar(&o.out, "out", "docs/hardware", "folder that the record is written to")
	flag.StringVar(&o.driver, "driver", cuda.DefaultPath, "NVIDIA's driver")
	flag.BoolVar(&o.emulated, "emulated", false, "run on the fake driver at --driver, and little of all")
	flag.DurationVar(&o.limit, "limit", 570*time.Second, "of all parts together")
	flag.Parse()
	ok, err := run(&o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpucheck:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run runs everything, and says whether it has passed.
func run(o *options) (bool, error) {
	c := &check{driver: o.driver, emulated: o.emulated}
	var err error
	for from, to := range map[string]*string{o.root: &c.root, o.bin: &c.bin} {
		var failed error
		*to, failed = filepath.Abs(from)
		err = errors.Join(err, failed)
	}
	if err != nil {
		return false, err
	}
	if !o.emulated {
		if _, err := cuda.Open(o.driver); err != nil {
			return false, err
		}
	}
	c.logs = filepath.Join(c.bin, "logs")
	if err := errors.Join(os.RemoveAll(c.logs), os.MkdirAll(c.logs, 0o755)); err != nil {
		return false, err
	}
	began, report := time.Now(), filepath.Join(c.logs, "benchmark.json")
	ctx, cancel := context.WithTimeout(context.Background(), o.limit)
	defer cancel()
	results := c.all(ctx, report, func(r result) {
		fmt.Printf("%-24s %-22s %6.1f s  %d passed, %d failed, %d left out  %s\n", r.Name, r.Status, r.Seconds, r.Passed, len(r.Failed), len(r.Skipped), r.Error)
		for _, test := range r.Failed {
			fmt.Println("    " + test)
		}
	})
	rec, err := c.newRecord(began, results, report)
	if err != nil {
		return false, err
	}
	table, err := os.ReadFile(filepath.Join(c.logs, "benchmark.log"))
	if err != nil {
		return false, err
	}
	return rec.Passed, rec.write(o.out, string(table))
}
