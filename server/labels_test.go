package server

import (
	"fmt"
	"testing"
)

// Versions are called as trainers call them, whatever they call others.
func TestLabels(t *testing.T) {
	var l labels
	for _, want := range []string{"default", "default~2", "default~3"} {
		if got := l.next("default"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		l.set(want, "default")
	}
	l.set("default~2", "two")
	for version, want := range map[string]string{"default": "default", "default~2": "two", "default~3": "default", "x": "x"} {
		if got := l.of(version); got != want {
			t.Errorf("%q is called %q, want %q", version, got, want)
		}
	}
	for label, want := range map[string]string{"default": "default~3", "two": "default~2", "x": "x"} {
		if got := l.version(label); got != want {
			t.Errorf("%q is the version %q, want %q", label, got, want)
		}
	}
	for i := range maxLabels {
		l.set(fmt.Sprint(i), "many")
	}
	if n := len(l.shown); n != maxLabels || len(l.order) != n || l.of("default~2") != "default~2" {
		t.Errorf("%d labels", n)
	}
}
