package test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
)

// docs/protocol.md lists every code of an error that a client may be told, and no other,
// with the class of those that have one.
func TestProtocolListsErrors(t *testing.T) {
	var want []string
	for _, file := range []string{"../engine/internal/convert/errors.go", "../engine/status.go"} {
		for _, row := range matches(t, file, `(?m)^\t\{\S+, (?:\S+, )?"(\w+)"\},`) {
			want = append(want, row[1])
		}
	}
	if want = append(want, engine.Code(errors.New("any other"))); len(want) < 50 {
		t.Fatalf("found %d codes only: %q", len(want), want)
	}
	classes := map[string]error{"rejected": engine.ErrRejected, "unavailable": engine.ErrUnavailable, "failed": engine.ErrFailed}
	var listed []string
	for _, row := range matches(t, "../docs/protocol.md", "(?m)^\\| `(\\w+)` \\| (\\w*) \\|") {
		code, class := row[1], row[2]
		listed = append(listed, code)
		if cause := engine.ByCode(code); cause != nil {
			for name, is := range classes {
				if errors.Is(cause, is) != (class == name) {
					t.Errorf("%s is listed as %q: is it %s?", code, class, name)
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("docs/protocol.md lists\n%s, want\n%s", strings.Join(listed, " "), strings.Join(want, " "))
	}
}

// matches are all matches of a pattern in a file.
func matches(t *testing.T, file, pattern string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
}
