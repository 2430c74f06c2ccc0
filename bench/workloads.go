package bench

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// maxFile bounds what is read of a workload file, in bytes.
const maxFile = 256 << 20

var (
	// ErrFormat means that a file is not a workload file.
	ErrFormat = errors.New("not a workload file")
	// ErrName means that there is no workload of a name.
	ErrName = errors.New("no such workload")
)

// Case is one request of a workload.
type Case struct {
	Prompt []int32 `json:"prompt"`
	MaxNew int     `json:"max_new"`
}

// Workloads maps names to requests.
type Workloads map[string][]Case

//go:embed workloads.json
var builtin []byte

// Default is the project's own workloads.
func Default() (Workloads, error) { return Read(bytes.NewReader(builtin)) }

// Read reads a workload file. Errors wrap ErrFormat unless reading fails.
func Read(r io.Reader) (Workloads, error) {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	dec := json.NewDecoder(limited)
	dec.DisallowUnknownFields()
	var w Workloads
	err := dec.Decode(&w)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("something follows the closing }")
		}
	}
	if limited.N == 0 {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return w, w.check()
}

func (w Workloads) check() error {
	if len(w) == 0 {
		return fmt.Errorf("%w: it has no workloads", ErrFormat)
	}
	for _, name := range w.Names() {
		if len(w[name]) == 0 {
			return fmt.Errorf("%w: %q has no requests", ErrFormat, name)
		}
		for i, c := range w[name] {
			if len(c.Prompt) == 0 || c.MaxNew < 1 {
				return fmt.Errorf("%w: request %d of %q needs a prompt and a max_new of 1 or more", ErrFormat, i, name)
			}
		}
	}
	return nil
}

// Get gives the workload of a name, or an error that wraps ErrName and lists
// the names there are.
func (w Workloads) Get(name string) ([]Case, error) {
	cases, ok := w[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q, there are %s", ErrName, name, strings.Join(w.Names(), ", "))
	}
	return cases, nil
}

// Names lists the workloads in order.
func (w Workloads) Names() []string { return slices.Sorted(maps.Keys(w)) }
