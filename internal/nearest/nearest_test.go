package nearest

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"ab", "xab", 1},
		{"abcd", "acbd", 1}, {"kitten", "sitting", 3}, {"größe", "grösse", 2}, {"ca", "abc", 3},
	} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	names := strings.Fields("page_size num_blocks max_batch_tokens max_memory_percent")
	for _, c := range []struct{ word, name, close string }{
		{"page_sise", "page_size", "page_size"},
		{"pagesize", "page_size", "page_size"},
		{"max_memory_precent", "max_memory_percent", "max_memory_percent"},
		{"frobnicate", "page_size", ""},
		{"num_block", "num_blocks", "num_blocks"},
	} {
		if got := Name(c.word, names); got != c.name {
			t.Errorf("%s: the nearest is %q, want %q", c.word, got, c.name)
		}
		if got := Close(c.word, names); got != c.close {
			t.Errorf("%s: close is %q, want %q", c.word, got, c.close)
		}
	}
	if Name("a", nil) != "" || Close("a", nil) != "" {
		t.Error("a name out of none")
	}
}
