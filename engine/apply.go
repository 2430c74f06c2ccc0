package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/internal/nearest"
)

// Given is a value of a field as a file, the environment or a command line has it.
type Given struct {
	Name   string // of the field, or one it had before
	Text   string
	Called string // how the source names it: --page-size; "": Name
	Where  string // file and position; "": Called says it
	Silent bool   // that it has no effect where the engine runs is nothing to tell
}

// called is how to name it to the user.
func (g Given) called() string {
	if g.Called == "" {
		return g.Name
	}
	return g.Called
}

// origin is where the value came from, in Setting.From.
func (g Given) origin() string {
	if g.Where != "" {
		return g.Where
	}
	return g.called()
}

// explain adds to an error where the value stands.
func (g Given) explain(err error) error {
	if bad := (*ValueError)(nil); errors.As(err, &bad) {
		bad.Name = g.called()
	}
	if g.Where != "" {
		return fmt.Errorf("%s: %w", g.Where, err)
	}
	return err
}

// origins remembers where values came from, by field, and what to say about them.
type origins struct {
	by     map[string]string
	silent map[string]bool // by field, Given.Silent
	notes  []string
}

// Apply puts the values of one source over what c has, so the source that counts
// most comes last. A name that does not exist, a value that its field does not
// take, and a field given under two names are errors of class ErrConfig that say
// where; c is then as it was. Old names are taken and named in Resolved.Notices.
func (c *Config) Apply(source []Given) error {
	next := *c
	next.from.by = maps.Clone(c.from.by)
	if next.from.by == nil {
		next.from.by = map[string]string{}
	}
	if next.from.silent = maps.Clone(c.from.silent); next.from.silent == nil {
		next.from.silent = map[string]bool{}
	}
	next.from.notes = slices.Clip(c.from.notes)
	by := map[string]Given{} // of this source
	for _, g := range source {
		if err := next.apply(g, by); err != nil {
			return g.explain(err)
		}
	}
	*c = next
	return nil
}

func (c *Config) apply(g Given, by map[string]Given) error {
	name, text := g.Name, g.Text
	if i := slices.IndexFunc(aliases, func(a alias) bool { return a.name == g.Name }); i >= 0 {
		a := aliases[i]
		if a.note != "" {
			c.from.notes = append(c.from.notes, g.called()+" "+a.note)
		}
		if a.to == "" {
			return nil
		}
		if a.value != nil {
			var known bool
			if text, known = a.value[g.Text]; !known {
				return &ValueError{Name: g.Name, Text: g.Text, Want: "must be true or false"}
			}
		}
		name = a.to
	}
	f := fieldNamed(name)
	if f == nil {
		return unknownName(g.called(), name)
	}
	if other, twice := by[name]; twice && other.Name != g.Name {
		return fmt.Errorf("%w: %s and %s are the same: give %s alone", ErrConfig, other.called(), g.called(), name)
	}
	by[name] = g
	if err := f.set(c, text); err != nil {
		return err
	}
	c.from.by[name], c.from.silent[name] = g.origin(), g.Silent
	if TakesBack(text) && f.at(c).get() == nil {
		delete(c.from.by, name)
	}
	return nil
}

// unknownName offers the field that a name resembles.
func unknownName(called, name string) error {
	names := fieldNames()
	close := nearest.Close(name, names)
	if i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, name) }); close == "" && i >= 0 && len(name) > 3 {
		close = names[i] // a part of it
	}
	if close != "" {
		return fmt.Errorf("%w: there is no %.60q: did you mean %s?", ErrConfig, called, close)
	}
	return fmt.Errorf("%w: there is no %.60q: docs/configuration.md has all fields", ErrConfig, called)
}

// fieldNamed finds a field; nil: there is none.
func fieldNamed(name string) *Field {
	if i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &fields[i]
	}
	return nil
}

func fieldNames() []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names
}

// Deprecated are the names that Apply takes beside those of Fields, most of them old.
func Deprecated() []string {
	names := make([]string, len(aliases))
	for i := range aliases {
		names[i] = aliases[i].name
	}
	return names
}
