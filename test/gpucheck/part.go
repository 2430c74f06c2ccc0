package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// part is a process that is run to its end or its deadline.
type part struct {
	name  string
	dir   string   // where it runs, from the root
	argv  []string // of the program; one without a slash is looked for in PATH
	env   []string // beside the environment
	limit time.Duration
	tests bool // it is a test binary
	asks  bool // left out where the program is not there
}

// Ways in which a part ends.
const (
	passed    = "passed"
	failed    = "failed"
	late      = "killed at its deadline"
	unreached = "not reached" // as there was no time left
	missing   = "not run"     // as its program is not there, or there was no time left for what may be left out
)

// result is how a part has ended.
type result struct {
	Name    string  `json:"name"`
	Status  string  `json:"status"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
	outcome
}

// run runs the part, and keeps what it writes in a file of the folder logs.
func (c *check) run(ctx context.Context, p *part) (r result) {
	r = result{Name: p.name, Status: missing}
	program := p.argv[0]
	if p.asks {
		found, err := exec.LookPath(program)
		if err != nil {
			r.Error = fmt.Sprintf("there is no %s", program)
			return r
		}
		program = found
	}
	if ctx.Err() != nil {
		if r.Error = context.Cause(ctx).Error(); !p.asks {
			r.Status = unreached
		}
		return r
	}
	log := filepath.Join(c.logs, strings.ReplaceAll(p.name, " ", "-")+".log")
	out, err := os.Create(log)
	if err != nil {
		r.Error, r.Status = err.Error(), failed
		return r
	}
	defer out.Close() // what was written is read again below
	began := time.Now()
	its, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	cmd := exec.CommandContext(its, program, p.argv[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(c.root, p.dir), append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = out, out
	group(cmd)
	err = wait(its, cmd)
	r.Seconds = time.Since(began).Seconds()
	switch {
	case err == nil:
		r.Status = passed
	case errors.Is(err, errStays):
		r.Status, r.Error = late, err.Error()
	case ctx.Err() != nil:
		r.Status, r.Error = late, context.Cause(ctx).Error()
	case its.Err() != nil:
		r.Status, r.Error = late, fmt.Sprintf("it had %v", p.limit)
	default:
		r.Status, r.Error = failed, err.Error()
	}
	if p.tests {
		r.judge(log)
	}
	return r
}

// errOver is why a part that had time left has ended, or did not begin.
var errOver = errors.New("the time of all parts was over")

// judge adds what the tests say of themselves: where one has failed or has not ended, or none has passed,
// a process that ended well has not passed.
func (r *result) judge(log string) {
	o, err := readOutcome(log)
	r.outcome = o
	switch {
	case err != nil:
		r.Status, r.Error = failed, err.Error()
	case r.Status != passed:
	case len(o.Failed) > 0:
		r.Status = failed
	case o.Passed == 0:
		r.Status, r.Error = failed, "no test has passed"
	}
}

// unkillable is how long a process may take to be gone behind its deadline: one that waits for its device
// within the kernel goes on for ever.
const unkillable = 15 * time.Second

var errStays = errors.New("it cannot be killed: the device hangs")

// wait starts the process and waits for its end. What it has started ends with it.
func wait(ctx context.Context, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	defer killGroup(cmd)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(unkillable):
		return errStays
	}
}

func readOutcome(log string) (outcome, error) {
	f, err := os.Open(log)
	if err != nil {
		return outcome{}, err
	}
	defer f.Close() // it was only read
	return outcomeOf(f)
}
