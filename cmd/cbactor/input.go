package main

import (
	"context"
	"io"
	"os"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// input is what a run generates from: prompts, or a file of requests.
type input struct {
	prompts []texts.Prompt // nil: a file
	file    *os.File
	name    string
	total   int // requests; 0: not known
	each    int // sequences of a request that does not say otherwise

	done requests.Done // in the file of --resume
	out  *os.File      // of --resume, to be appended to; nil: none
}

// openInput reads the prompts, or opens the file of requests and what it resumes.
func (c *cli) openInput(f *generateFlags) (*input, error) {
	if f.requests == "" {
		list, err := c.prompts(f.prompts, !f.connect.given() && f.engine.model == checkpoint.Embedded)
		return &input{prompts: list, total: len(list), each: f.settings.Sequences()}, err
	}
	in := &input{file: c.stdin, name: "standard input", each: f.settings.Sequences()}
	if err := c.openFiles(in, f); err != nil {
		in.close(&err)
		return nil, err
	}
	return in, nil
}

func (c *cli) openFiles(in *input, f *generateFlags) (err error) {
	if f.requests != "-" {
		in.name = f.requests
		if in.file, err = os.Open(f.requests); err != nil {
			return badFile("--requests", err)
		}
	} else if isTerminal(in.file) {
		c.say("reading requests from the terminal, an object of JSON a line; Ctrl-D ends them")
	}
	if in.total, err = countRequests(in.file); err != nil {
		return badFile("--requests", err)
	}
	if f.resume == "" {
		return nil
	}
	if in.out, in.done, err = requests.OpenResults(f.resume); err != nil {
		return badFile("--resume", err)
	}
	return nil
}

// countRequests counts those that a file will give, and goes back to where it
// was; 0 for a pipe, which cannot.
func countRequests(f *os.File) (int, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, badUsage("%s is a folder", f.Name())
	case !info.Mode().IsRegular():
		return 0, nil
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	n, err := requests.Count(f)
	if err != nil {
		return 0, err
	}
	_, err = f.Seek(at, io.SeekStart)
	return n, err
}

func sameFile(a, b *os.File) bool {
	ai, aerr := a.Stat()
	bi, berr := b.Stat()
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}

// jobs is what there is to run.
func (in *input) jobs(ctx context.Context, m maker, warn *warner) source {
	if in.file == nil {
		return m.fromPrompts(in.prompts)
	}
	done := &in.done
	if in.out == nil {
		done = nil
	}
	return m.fromFile(ctx, requests.NewReader(in.file, in.name, m.settings), done, warn)
}

// hints are what a run will ask an engine for. A prompt that cannot be encoded will
// be a failed request, in its turn.
func (in *input) hints(ctx context.Context, words *texts.Local, maxNew int) engine.Hints {
	h := engine.Hints{Requests: in.total * in.each}
	for _, p := range in.prompts {
		if ids, err := words.Encode(ctx, p); err == nil {
			h.MaxPrompt, h.MaxNew = max(h.MaxPrompt, len(ids)), maxNew
		}
	}
	return h
}

// single says that there is one text to come.
func (in *input) single() bool { return len(in.prompts) == 1 && in.each == 1 }

// most is how many texts there can be, about.
func (in *input) most() int {
	if in.total == 0 {
		return maxPlaces
	}
	return in.total * in.each
}

// close closes the files and adds what went wrong with that to err.
func (in *input) close(err *error) {
	for _, f := range []*os.File{in.file, in.out} {
		if f == nil || f == os.Stdin {
			continue
		}
		if closing := f.Close(); closing != nil && *err == nil {
			*err = closing
		}
	}
}
