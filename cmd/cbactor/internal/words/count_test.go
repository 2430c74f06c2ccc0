package words

import "testing"

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 tokens":        Count(0, "token"),
		"1 token":         Count(int64(1), "token"),
		"1 thread":        Count(1.0, "thread"),
		"1.5 threads":     Count(1.5, "thread"),
		"12345678 tokens": Count(12345678, "token"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
