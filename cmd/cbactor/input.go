package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine"
)

// input is what a run generates from: prompts, or a file of requests.
type input struct {
	prompts []requests.Prompt // nil: a file
	file    *os.File
	name    string
	total   int // requests; 0: not known

	done requests.Done // by --resume
	out  *os.File      // of --resume, to be appended to; nil: none
}

// openInput reads the prompts, or opens the file of requests and what it resumes.
func (c *cli) openInput(f *generateFlags) (*input, error) {
	if f.requests == "" {
		list, err := c.prompts(f.prompts, f.engine.model)
		return &input{prompts: list, total: len(list)}, err
	}
	in := &input{file: c.stdin, name: "standard input"}
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
			return fmt.Errorf("--requests: %w", err)
		}
	}
	if in.total, err = countRequests(in.file); err != nil {
		return fmt.Errorf("--requests: %w", err)
	}
	if f.resume == "" {
		return nil
	}
	if err := c.openResume(in, f); err != nil {
		return fmt.Errorf("--resume: %w", err)
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
		return 0, fmt.Errorf("%s is a folder", f.Name())
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

// openResume reads what is done and makes the file ready to be appended to: by
// this process, or through a standard output that is the same file.
func (c *cli) openResume(in *input, f *generateFlags) error {
	flag := os.O_RDWR | os.O_CREATE
	if f.json {
		flag = os.O_RDONLY
	}
	out, err := os.OpenFile(f.resume, flag, 0o644)
	if f.json && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	in.done, err = requests.ReadDone(out, f.resume)
	switch {
	case err != nil:
	case !f.json:
		in.out = out
		if err = out.Truncate(in.done.End); err == nil {
			_, err = out.Seek(in.done.End, io.SeekStart)
		}
	case sameFile(out, c.stdout):
		err = os.Truncate(f.resume, in.done.End)
	}
	if in.out == nil || err != nil {
		in.out = nil
		return errors.Join(err, out.Close())
	}
	return nil
}

func sameFile(a, b *os.File) bool {
	ai, aerr := a.Stat()
	bi, berr := b.Stat()
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}

// jobs is what there is to run.
func (in *input) jobs(m maker) source {
	if in.file == nil {
		return m.fromPrompts(in.prompts)
	}
	return m.fromFile(requests.NewReader(in.file, in.name), in.done.IDs)
}

// hints are what a run will ask an engine for. A prompt that cannot be encoded will
// be a failed request, in its turn.
func (in *input) hints(m maker, maxNew int) engine.Hints {
	h := engine.Hints{Requests: in.total}
	for _, p := range in.prompts {
		if ids, err := m.encode(p); err == nil {
			h.MaxPrompt, h.MaxNew = max(h.MaxPrompt, len(ids)), maxNew
		}
	}
	return h
}

// single says that there is one prompt.
func (in *input) single() bool { return len(in.prompts) == 1 }

// most is how many requests there can be.
func (in *input) most() int {
	if in.total == 0 {
		return maxPlaces
	}
	return in.total
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
