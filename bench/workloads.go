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

const (
	maxFile     = 256 << 20 // bounds what is read of a workload file, in bytes
	maxPriority = 100       // of a request, on both sides of 0
)

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

	Priority int `json:"priority"` // where the policy is priority, higher goes first; from -100 to 100
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
	w, err := decode(dec)
	if limited.N == 0 {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return w, nil
}

// decode reads the object of a file, and nothing else.
func decode(dec *json.Decoder) (Workloads, error) {
	switch first, err := dec.Token(); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, err
	case first != json.Delim('{'):
		return nil, errors.New("it is no object of names")
	}
	w := Workloads{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, cut(err)
		}
		name, _ := key.(string) // the decoder gives no other key
		if _, twice := w[name]; twice {
			return nil, fmt.Errorf("%q is there twice", name)
		}
		if w[name], err = requests(dec, name); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, cut(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the closing }")
	}
	if len(w) == 0 {
		return nil, errors.New("it has no workloads")
	}
	return w, nil
}

// requests reads those of a name.
func requests(dec *json.Decoder, name string) ([]Case, error) {
	var list []Case
	var bad *json.UnmarshalTypeError
	switch err := dec.Decode(&list); {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("%q has a %s where it must not: write [{\"prompt\":[ids],\"max_new\":n},...]", name, bad.Value)
	case err != nil:
		return nil, fmt.Errorf("%q: %w", name, cut(err))
	case len(list) == 0:
		return nil, fmt.Errorf("%q has no requests", name)
	}
	for i, c := range list {
		if len(c.Prompt) == 0 || c.MaxNew < 1 {
			return nil, fmt.Errorf("request %d of %q needs a prompt and a max_new of 1 or more", i+1, name)
		}
		if c.Priority < -maxPriority || c.Priority > maxPriority {
			return nil, fmt.Errorf("request %d of %q has priority %d, must be from %d to %d", i+1, name, c.Priority, -maxPriority, maxPriority)
		}
	}
	return list, nil
}

// cut says what the end of a file in the middle means.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
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
