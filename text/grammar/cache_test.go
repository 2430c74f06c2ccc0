package grammar

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestCache(t *testing.T) {
	c := NewCache(codecs(t)["tiny"])
	get := func(spec Spec) *Grammar {
		t.Helper()
		g, err := c.Compile(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	source := []byte(`{"type":"null"}`)
	specs := []Spec{{Regex: "a"}, {JSON: true}, {Schema: source}, {Choices: []string{"a"}}, {Choices: []string{"a", "b"}}, {JSON: true, Before: "a"}}
	first := make(map[*Grammar]bool)
	for _, s := range specs {
		first[get(s)] = true
	}
	if len(first) != len(specs) {
		t.Errorf("%d grammars for %d specs", len(first), len(specs))
	}
	copy(source, `{"type":[    }`) // the caller's own
	for _, s := range append(specs[:2:2], schema(`{"type":"null"}`), specs[3], specs[4]) {
		if !first[get(s)] {
			t.Errorf("%+v is compiled again", s)
		}
	}
	for i := range maxKept - 1 {
		get(Spec{Regex: fmt.Sprint("b", i)})
		get(Spec{Regex: "a"})
	}
	if !first[get(Spec{Regex: "a"})] || first[get(specs[1])] || len(c.kept) != maxKept {
		t.Errorf("%d are kept, not those asked for last", len(c.kept))
	}
	if _, err := c.Compile(context.Background(), Spec{Regex: "("}); !errors.Is(err, ErrSpec) || len(c.kept) != maxKept {
		t.Errorf("a bad one: %v", err)
	}
}

// Few are compiled at a time; who waits for it gives up with its context, and finds what
// came in the meantime.
func TestCacheCompilesFewAtATime(t *testing.T) {
	c := NewCache(codecs(t)["tiny"])
	for range maxCompiling {
		c.compiling <- struct{}{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Compile(ctx, Spec{JSON: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("beside others: %v", err)
	}
	done := make(chan *Grammar)
	go func() {
		g, err := c.Compile(context.Background(), Spec{JSON: true})
		if err != nil {
			t.Error(err)
		}
		done <- g
	}()
	select {
	case <-done:
		t.Error("compiled beside others")
	case <-time.After(10 * time.Millisecond):
	}
	<-c.compiling
	if g := <-done; g == nil || len(c.compiling) != maxCompiling-1 {
		t.Errorf("%v, with %d places taken", g, len(c.compiling))
	}
}
