package emu

import (
	"os"
	"slices"
	"testing"
)

// Without a home libraries are built for one test alone.
func TestNoHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	b := newBuilder(t)
	if _, err := os.Stat(b.cache); err != nil {
		t.Error(err)
	}
}

// A library is named by its compiler, too, and by what that compiles for.
func TestCompilerIsKnown(t *testing.T) {
	skip(t)
	is := compilerIs(t)
	if len(is) != 2 || slices.Contains(is, "") || is[0] == is[1] {
		t.Errorf("the compiler is %q", is)
	}
}
