package grammar

import (
	"context"
	"errors"
	"testing"
)

// letters is a vocabulary of all bytes, and of some texts behind them.
func letters(texts ...string) *Vocabulary {
	return newVocabulary(256+len(texts), func(id int32) []byte {
		if id < 256 {
			return []byte{byte(id)}
		}
		return []byte(texts[id-256])
	})
}

func compile(t testing.TB, spec Spec, v *Vocabulary) *Grammar {
	t.Helper()
	g, err := Compile(context.Background(), spec, v)
	if err != nil {
		t.Fatalf("%+v: %v", spec, err)
	}
	return g
}

// read says whether s begins a text of g, and whether it is one.
func read(g *Grammar, s string) (begins, whole bool) {
	m := g.machine
	at := g.start
	for i := range len(s) {
		m.begin()
		at = m.step(at, s[i])
	}
	return at != m.nobody, at.ends
}

// reader says whether a text is one of spec's, for which there may be none.
func reader(t testing.TB, spec Spec, v *Vocabulary) func(string) bool {
	t.Helper()
	g, err := Compile(context.Background(), spec, v)
	if errors.Is(err, ErrNothing) {
		return func(string) bool { return false }
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) bool { _, whole := read(g, s); return whole }
}

func schema(source string) Spec { return Spec{Schema: []byte(source)} }
