package replay

import (
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
)

// Tell says what came of a replay, in lines.
func (s *Summary) Tell() string {
	var b strings.Builder
	equal := fmt.Sprintf("%s, %s equal", words.Count(s.Compared-s.Differ, "sequence"), words.Count(s.Tokens, "token"))
	switch {
	case s.Compared == 0:
		b.WriteString("nothing was compared\n")
	case s.First == nil:
		b.WriteString(equal + ": nothing differs\n")
	default:
		fmt.Fprintf(&b, "%s: sequences that differ: %d; found first: %s\n", equal, s.Differ, s.First)
	}
	for _, n := range []struct {
		count       int64
		thing, what string
	}{
		{int64(s.Skipped), "sequence", "not replayed: drawn with code of the program's or with an adapter"},
		{int64(s.Sequences - s.Compared - s.Skipped), "sequence", "not compared: no token was drawn"},
		{int64(s.Open), "request", "not ended, with all their sequences, when the log did"},
		{s.Lost, "line", "missing: the writer of the log was too slow"},
	} {
		if n.count > 0 {
			fmt.Fprintf(&b, "%s %s\n", words.Count(n.count, n.thing), n.what)
		}
	}
	if s.Torn {
		b.WriteString("the last line was cut, and is left out\n")
	}
	return b.String()
}
