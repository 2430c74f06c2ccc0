package grammar

import (
	"context"
	"fmt"
	"sync"
	"unicode/utf8"
)

// Bounds of what is compiled, in bytes.
const (
	maxRegex   = 8 << 10
	maxSchema  = 512 << 10
	maxChoices = 512 << 10 // all together, with what stands around them
)

// Spec says which texts there are: exactly one of its first four fields is set.
type Spec struct {
	Regex   string   // all texts that the whole of it matches, in RE2's syntax
	JSON    bool     // a JSON object
	Schema  []byte   // a JSON value, by a JSON schema
	Choices []string // one of these

	Before, After string // stand around it
}

// Grammar is a set of texts over a vocabulary. It is safe for concurrent use, and one
// serves all requests with the same Spec; they share what is known of its masks, at
// most 16 MiB.
type Grammar struct {
	mu      sync.Mutex
	machine *machine
	start   *state
}

// Compile makes the grammar of a spec, in less than a second, or ends with ctx. Errors:
// ErrSpec, ErrUnsupported, ErrTooLarge, ErrNothing, ErrTooAmbiguous.
func Compile(ctx context.Context, spec Spec, v *Vocabulary) (*Grammar, error) {
	b := newBuilder(v.depth)
	if err := spec.emit(b); err != nil {
		return nil, err
	}
	p, err := b.finish(ctx.Err)
	if err != nil {
		return nil, err
	}
	g := &Grammar{machine: newMachine(p, v)}
	g.machine.begin()
	g.start = g.machine.start()
	if _, err := g.machine.maskOf(g.start); err != nil {
		return nil, err
	}
	return g, nil
}

// Check refuses what is no spec. Compile begins with it. Errors: ErrSpec, ErrTooLarge.
func (s *Spec) Check() error {
	given := 0
	for _, is := range []bool{s.Regex != "", s.JSON, s.Schema != nil, s.Choices != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("%w: %d of a regex, JSON, a schema and choices are given, must be one", ErrSpec, given)
	}
	if s.Choices != nil && len(s.Choices) == 0 {
		return fmt.Errorf("%w: there is no choice", ErrSpec)
	}
	valid := utf8.ValidString(s.Regex) && utf8.Valid(s.Schema)
	total := 0
	for _, t := range append([]string{s.Before, s.After}, s.Choices...) {
		valid = valid && utf8.ValidString(t)
		total += len(t)
	}
	if !valid {
		return fmt.Errorf("%w: it is not UTF-8", ErrSpec)
	}
	if total > maxChoices {
		return fmt.Errorf("%w: choices of %d bytes, at most %d are taken", ErrTooLarge, total, maxChoices)
	}
	return nil
}

// emit makes the rule 0 of a spec.
func (s *Spec) emit(b *builder) error {
	if err := s.Check(); err != nil {
		return err
	}
	body, err := s.body(b)
	if err != nil {
		return err
	}
	b.rule("text", func(next int32) int32 { return b.text(s.Before, body(b.text(s.After, next))) })
	return nil
}

// body is what emits the text that stands between Before and After.
func (s *Spec) body(b *builder) (func(next int32) int32, error) {
	switch {
	case s.Regex != "":
		p, err := b.parsePattern(s.Regex)
		return func(next int32) int32 { return b.pattern(p, asText, counts{}, next) }, err
	case s.JSON:
		return func(next int32) int32 { return b.call(b.anyObject(), next) }, nil
	case s.Schema != nil:
		root, err := parseJSON(s.Schema)
		all := &schemas{builder: b, refs: make(map[*value]bool)}
		return func(next int32) int32 { return b.call(all.schema(root), next) }, err
	}
	return func(next int32) int32 {
		all := dead
		for _, c := range s.Choices {
			all = b.either(all, b.text(c, next))
		}
		return all
	}, nil
}
