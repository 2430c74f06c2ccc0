package server

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cbactor/cbactor/weights"
)

// Versions are called as trainers call them, whatever they call others.
func TestLabels(t *testing.T) {
	var l labels
	for _, want := range []string{"default", "default~2", "default~3"} {
		if got := l.next("default"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		l.settle(want, nil)
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

// A name that an engine has had is never given out again, however many others were since.
func TestManyLabels(t *testing.T) {
	var l labels
	had := map[string]bool{}
	take := func(label string) {
		t.Helper()
		version := l.next(label)
		if had[version] {
			t.Fatalf("%q was given out before", version)
		}
		had[version] = true
		l.settle(version, nil)
	}
	take("b")
	for range 2*maxLabels + 2 {
		take("a")
	}
	take("b")
	if len(l.shown) != maxLabels || len(l.order) != maxLabels {
		t.Errorf("%d labels of %d versions", len(l.shown), len(l.order))
	}
}

// A label is not that of a load which is under way or has failed.
func TestLabelOfLoads(t *testing.T) {
	var l labels
	l.settle(l.next("a"), nil)
	next := l.next("a")
	if l.of(next) != "a" || l.version("a") != "a" {
		t.Errorf("while it is loaded %q is called %q, and a is %q", next, l.of(next), l.version("a"))
	}
	l.settle(next, errors.New("on purpose"))
	if l.of(next) != next || l.version("a") != "a" || len(l.shown) != 1 {
		t.Errorf("%+v", l.shown)
	}
	l.settle(l.next("b"), errors.New("on purpose"))
	if len(l.tried) != 1 {
		t.Errorf("%+v", l.tried)
	}
	l.settle(l.next("b"), weights.ErrVersion)
	if again := l.next("b"); again == "b" {
		t.Error("b is taken, and given out again")
	}
	if after := l.next("a"); after == next {
		t.Errorf("%q is given out again, whose name may be why it failed", after)
	} else if l.settle(after, nil); l.version("a") != after {
		t.Errorf("a is %q, not %q", l.version("a"), after)
	}
}
