package main

import (
	"errors"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
)

// How many failures are told on standard error: of one reason, and in all.
const (
	mostAlike = 10
	mostTold  = 100
)

// complaints tells which requests failed and why, as far as somebody may read it.
type complaints struct {
	cli    *cli
	alike  map[string]int // by reason
	told   int
	silent int // failures that are not told
	lines  int // of a file that are no request
}

// add tells of a failure.
func (p *complaints) add(err error) {
	reason := err.Error()
	if line := (*requests.LineError)(nil); errors.As(err, &line) {
		reason = line.Err.Error()
	}
	if errors.Is(err, requests.ErrLine) {
		p.lines++
	}
	if p.told == mostTold || p.alike[reason] == mostAlike {
		p.silent++
		return
	}
	p.alike[reason]++
	p.told++
	p.cli.say("%s", oneLine(err.Error()))
}

// close tells of what was not told, and of a file that is none of requests; ended is how
// many lines of it there were.
func (p *complaints) close(ended int) {
	if p.silent > 0 {
		p.cli.say("%s failed, too: --json says why for each", words.Count(p.silent, "more request"))
	}
	if p.lines > 1 && p.lines == ended {
		p.cli.say("no line of the file is a request: each must be an object of JSON, see `cbactor generate --help`")
	}
}
