package jinja

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Any source is refused, fails or renders, in little time and memory, and what it
// renders is UTF-8 whose foreign bytes are within it.
func FuzzTemplate(f *testing.F) {
	var golden struct {
		Snippets []struct{ Tmpl string }
	}
	readGolden(f, "snippets.json.gz", &golden)
	for _, s := range golden.Snippets {
		f.Add(s.Tmpl)
	}
	for _, source := range hostile() {
		if len(source) < 1000 {
			f.Add(source)
		}
	}
	vars := map[string]Value{
		"s": Foreign("Hello World"), "i": int64(7), "f": 2.5, "n": nil, "t": true, "l": NewList([]Value{int64(3), Foreign("b"), nil}),
	}
	d := NewDict()
	d.Set(String("a"), Foreign("é中"))
	vars["d"] = d
	limits := Limits{Steps: 1 << 16, Bytes: 1 << 20, Depth: 1000}
	f.Fuzz(func(t *testing.T, source string) {
		began := time.Now()
		template, err := Parse(source)
		if err == nil {
			var text Text
			text, err = template.Render(context.Background(), vars, Options{Limits: limits})
			end := 0
			for _, s := range text.Foreign() {
				if s.From < end || s.To <= s.From || s.To > len(text.String()) {
					t.Errorf("%q: bad span %v of %q", source, s, text.String())
				}
				end = s.To
			}
			if valid := strings.ToValidUTF8(source, "") == source; valid && strings.ToValidUTF8(text.String(), "") != text.String() {
				t.Errorf("%q: not UTF-8: %q", source, text.String())
			}
		}
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Errorf("%q: a mistake of the interpreter: %v", source, err)
		}
		if err != nil && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrRaised) && !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q: %v", source, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q took %v", source, took)
		}
	})
}
