package jinja

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// readGolden reads a golden file of testdata.
func readGolden(t testing.TB, name string, v any) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// variables are the fields of a JSON object.
func variables(t testing.TB, source json.RawMessage) map[string]Value {
	t.Helper()
	v, err := FromJSON(source, 100)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]Value)
	d := v.(*Dict)
	for i, k := range d.keys {
		all[k.(Text).s] = d.values[i]
	}
	return all
}

type answer struct {
	Out, Err *string
	Address  bool // Out has one, and we do not
}

// differs says how a rendering differs from an answer of jinja2; "": it does not.
func (a answer) differs(got string, err error) string {
	switch {
	case a.Address && err == nil:
		return fmt.Sprintf("%q, want a refusal", got)
	case a.Address:
		return ""
	case a.Err != nil && err == nil:
		return fmt.Sprintf("%q, want the error %s", got, *a.Err)
	case a.Out != nil && err != nil:
		return fmt.Sprintf("%v, want %q", err, *a.Out)
	case a.Out != nil && got != *a.Out:
		return fmt.Sprintf("\n%q, want\n%q", got, *a.Out)
	}
	return ""
}

func render(source string, vars map[string]Value) (string, error) {
	t, err := Parse(source)
	if err != nil {
		return "", err
	}
	text, err := t.Render(context.Background(), vars, Options{Now: time.Date(2026, 1, 31, 12, 34, 56, 0, time.UTC)})
	return text.String(), err
}

// refusedSnippets are those that use what is left out by name.
var refusedSnippets = []string{"{{ l|random in l }}", "{{ l|pprint }}"}

// The language: small templates, answered by jinja2 3.1.6 as Transformers sets it up.
func TestSnippets(t *testing.T) { testSnippets(t, "snippets.json.gz", refusedSnippets) }

// More of the language, where implementations differ.
func TestLanguage(t *testing.T) { testSnippets(t, "language.json.gz", nil) }

func testSnippets(t *testing.T, file string, refused []string) {
	var golden struct {
		Vars     json.RawMessage
		Snippets []struct {
			Tmpl string
			answer
		}
	}
	readGolden(t, file, &golden)
	vars := variables(t, golden.Vars)
	passed := 0
	for _, s := range golden.Snippets {
		got, err := render(s.Tmpl, vars)
		if slices.Contains(refused, s.Tmpl) {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: %q, %v, want ErrUnsupported", s.Tmpl, got, err)
			}
			continue
		}
		if wrong := s.differs(got, err); wrong != "" {
			t.Errorf("%s: %s", s.Tmpl, wrong)
			continue
		}
		if s.Err != nil && !sameKind(*s.Err, err) {
			t.Errorf("%s: error %v, want %s", s.Tmpl, err, *s.Err)
		}
		passed++
	}
	t.Logf("%d of %d snippets equal, %d refused", passed, len(golden.Snippets), len(refused))
}

// sameKind says whether an error is of the kind that Python's is.
func sameKind(python string, err error) bool {
	kind, _, _ := strings.Cut(python, ":")
	switch {
	case kind == "TemplateSyntaxError" || kind == "TemplateAssertionError" || kind == "SyntaxError":
		return errors.Is(err, ErrSyntax)
	case strings.Contains(python, "no loader for this environment"):
		return errors.Is(err, ErrUnsupported)
	}
	return errors.Is(err, ErrRaised) && strings.Contains(err.Error(), kind)
}

// Real templates with conversations of all kinds: equal to what Transformers gives, and
// an error of the same kind where it raises one.
func TestTemplates(t *testing.T) {
	dir := templatesOf(t)
	var golden struct {
		Cases     map[string]json.RawMessage
		Templates map[string]struct {
			SHA256 string
			Cases  map[string]answer
		}
	}
	readGolden(t, "templates.json.gz", &golden)
	table := []string{fmt.Sprintf("%-58s %5s %6s", "template", "cases", "passed")}
	all, good := 0, 0
	for _, name := range slices.Sorted(maps.Keys(golden.Templates)) {
		g := golden.Templates[name]
		source, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(source); hex.EncodeToString(sum[:]) != g.SHA256 {
			t.Fatalf("%s is another version than the golden's", name)
		}
		passed := 0
		for _, c := range slices.Sorted(maps.Keys(g.Cases)) {
			vars := variables(t, golden.Cases[c])
			vars["bos_token"], vars["eos_token"] = String("<BOS>"), String("<EOS>")
			vars["documents"] = nil
			if _, ok := vars["tools"]; !ok {
				vars["tools"] = nil
			}
			got, err := render(string(source), vars)
			want := g.Cases[c]
			wrong := want.differs(got, err)
			if wrong == "" && want.Err != nil && !sameKind(*want.Err, err) {
				wrong = fmt.Sprintf("%v, want %s", err, *want.Err)
			}
			if wrong != "" {
				t.Errorf("%s, %s: %s", name, c, wrong)
				continue
			}
			passed++
		}
		all, good = all+len(g.Cases), good+passed
		table = append(table, fmt.Sprintf("%-58s %5d %6d", name, len(g.Cases), passed))
	}
	t.Logf("\n%s\n%-58s %5d %6d", strings.Join(table, "\n"), "all", all, good)
}

// templatesOf is the folder of the templates, which are llama.cpp's.
func templatesOf(t testing.TB) string {
	cache := os.Getenv("CBACTOR_CACHE")
	if cache == "" {
		home, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, "cbactor")
	}
	dir := filepath.Join(cache, "llama.cpp", "models", "templates")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CBACTOR_REQUIRE_ASSETS") != "" {
			t.Fatalf("%v: make assets fetches it", err)
		}
		t.Skipf("%v: make assets fetches it", err)
	}
	return dir
}
