package jinja

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Template is a source that was read. It is safe for concurrent use.
type Template struct {
	body   []stmt
	blocks map[string]*blockStmt
	facts  facts
}

// Parse reads a source. Errors: ErrSyntax, ErrUnsupported, and ErrLimit for a source of
// more than MaxSource bytes. What is no UTF-8 in it becomes U+FFFD, as it does in Foreign,
// so that every Text is UTF-8.
func Parse(source string) (t *Template, err error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf("%w: its source has %d bytes, at most %d are taken", ErrLimit, len(source), MaxSource)
	}
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, caught(p)
		}
	}()
	t = &Template{body: parse(strings.ToValidUTF8(source, "\uFFFD")), blocks: make(map[string]*blockStmt)}
	checkNames(t.body)
	t.facts.gather(t)
	return t, nil
}

// Options are what a rendering needs beside its variables.
type Options struct {
	Limits Limits
	Now    time.Time // of strftime_now
}

// Render runs the template. Variables hide what the language has under the same name.
// Errors: ErrRaised, ErrLimit, ErrUnsupported; with the context's own where that ended it.
func (t *Template) Render(ctx context.Context, variables map[string]Value, o Options) (text Text, err error) {
	r := &rendering{budget: newBudget(ctx, o.Limits), template: t, variables: variables, now: o.Now}
	defer func() {
		if p := recover(); p != nil {
			text, err = Text{}, r.located(caught(p))
		}
	}()
	r.spend(1)
	r.out = &builder{run: r}
	r.root = &scope{}
	r.body(t.body, r.root)
	return r.out.text(), nil
}

// located says in which line of the template an error came up.
func (r *rendering) located(err error) error {
	if r.line == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", r.line, err)
}

// rendering is one run of a template.
type rendering struct {
	budget
	template  *Template
	variables map[string]Value
	now       time.Time
	root      *scope
	out       *builder // what is printed goes there
	escapes   bool     // {% autoescape true %}
	line      int      // of the statement that runs
}

// captured is what f prints.
func (r *rendering) captured(f func()) Text {
	out := r.out
	r.out = &builder{run: r}
	f()
	text := r.out.text()
	r.out = out
	text.safe = r.escapes
	return text
}

// scope is what the names of a part of the template stand for.
type scope struct {
	parent *scope
	names  map[string]Value
}

// nameSize is what a name of a scope counts as with its value, in bytes.
const nameSize = 32

func (s *scope) set(name string, v Value) {
	if s.names == nil {
		s.names = make(map[string]Value)
	}
	s.names[name] = v
}

// lookup is what a name stands for.
func (r *rendering) lookup(name string, s *scope) Value {
	for ; s != nil; s = s.parent {
		if v, ok := s.names[name]; ok {
			return v
		}
	}
	if v, ok := r.variables[name]; ok {
		return v
	}
	if name == "self" {
		return &blocks{r}
	}
	if f, ok := globals[name]; ok {
		return f
	}
	return undefinedName(name)
}
