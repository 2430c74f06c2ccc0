package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	o, err := parse(os.Args[1:])
	ok := false
	if err == nil {
		ctx, stop := interrupts()
		ok, err = run(ctx, o)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpu-check:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// interrupts is a context that ends when the program is told to. Parts are in groups of their own, which
// no signal of the terminal reaches.
func interrupts() (context.Context, context.CancelFunc) {
	var list []os.Signal
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup has it
			list = append(list, s)
		}
	}
	return signal.NotifyContext(context.Background(), list...)
}

var errInterrupted = errors.New("interrupted: nothing is recorded")

// run runs everything, and says whether it has passed.
func run(ctx context.Context, o *options) (bool, error) {
	c, err := o.check()
	if err != nil {
		return false, err
	}
	began := time.Now()
	within, cancel := context.WithTimeoutCause(ctx, o.limit, errOver)
	defer cancel()
	if !c.emulated {
		if c.device, err = describe(within, c.driver); err != nil {
			return false, err
		}
	}
	if err := errors.Join(os.RemoveAll(c.logs), os.MkdirAll(c.logs, 0o755), os.MkdirAll(c.out, 0o755)); err != nil {
		return false, err
	}
	report := filepath.Join(c.logs, "benchmark.json")
	results := c.all(within, report, func(r result) {
		fmt.Printf("%-24s %-22s %6.1f s  %d passed, %d failed, %d left out  %s\n", r.Name, r.Status, r.Seconds, r.Passed, len(r.Failed), len(r.Skipped), r.Error)
		for _, test := range r.Failed {
			fmt.Println("    " + test)
		}
	})
	if ctx.Err() != nil {
		return false, errInterrupted
	}
	rec, err := c.newRecord(began, results, report)
	if err != nil {
		return false, err
	}
	table, err := os.ReadFile(filepath.Join(c.logs, "benchmark.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // no time was left for it
		return false, err
	}
	return rec.Passed, rec.write(c.out, string(table))
}
