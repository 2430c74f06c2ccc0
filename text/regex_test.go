package text

import (
	"slices"
	"testing"
	"time"
)

// The matches of a text share their time: none is looked for behind its end.
func TestMatchesShareTheirTime(t *testing.T) {
	e, err := compile(`x`)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := e.find("x x", time.Now()); ok {
		t.Error("a match behind the end of the time counts")
	}
	if spans, ok := e.find("a xb", time.Now().Add(time.Hour)); !ok || !slices.Equal(spans, []span{{0, 2, false}, {2, 3, true}, {3, 4, false}}) {
		t.Errorf("%v, %t", spans, ok)
	}
}
