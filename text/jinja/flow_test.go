package jinja

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A list is followed through names, loops, slices, filters and macros.
func TestLoopsOver(t *testing.T) {
	each := func(over string) string { return "{% for p in " + over + " %}{{ p.text }}{% endfor %}" }
	inLoop := func(body string) string { return "{% for m in messages %}" + body + "{% endfor %}" }
	for source, want := range map[string]bool{
		inLoop(each("m.content")):                                                                                true,
		inLoop(each("m['content']")):                                                                             true,
		inLoop(each("m.get('content', [])")):                                                                     true,
		inLoop(each("m.content | selectattr('type', 'equalto', 'text')")):                                        true,
		inLoop(each("(m.content if m.content is iterable else [])")):                                             true,
		inLoop(each("(m.content or [])[1:]")):                                                                    true,
		inLoop("{% set c = m.content %}{% if c is string %}{{ c }}{% else %}" + each("c") + "{% endif %}"):       true,
		"{% macro say(role, what) %}" + each("what") + "{% endmacro %}" + inLoop("{{ say(m.role, m.content) }}"): true,
		"{% macro say(what) %}" + each("what") + "{% endmacro %}" + inLoop("{{ say(what=m.content) }}"):          true,
		"{% set rest = messages[1:] | list %}{% for m in rest %}" + each("m.content") + "{% endfor %}":           true,
		each("messages[0].content"):                                                                              true,
		each("(messages | last).content"):                                                                        true,
		"{% with first = messages[0] %}" + each("first.content") + "{% endwith %}":                               true,
		"{% for m in [x] + messages %}" + each("m.content") + "{% endfor %}":                                     true,
		"{% for m in messages %}{{ m.content }}{% endfor %}":                                                     false,
		inLoop(each("m.tool_calls")):                                                                             false,
		inLoop("{{ m.content }}" + each("m.content.split(' ')")):                                                 false,
		inLoop("{{ m.content[0].text }}"):                                                                        false,
		"{% for t in tools %}" + each("t.content") + "{% endfor %}":                                              false,
		"{% macro say(what) %}" + each("what") + "{% endmacro %}" + inLoop("{{ say(m.role) }}"):                  false,
		strings.Repeat("{% set b = a %}{% set c = b %}{% set a = c %}", 1000) + each("messages[0].content"):      true,
	} {
		template, err := Parse(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if got := template.LoopsOver("messages", "content"); got != want {
			t.Errorf("%.200s: %t, want %t", source, got, want)
		}
	}
}

// Of real templates, those have loops over content that write its parts for themselves; others
// raise, write a list as Python does, or nothing of it.
func TestLoopsOverOfRealTemplates(t *testing.T) {
	dir := templatesOf(t)
	var golden struct {
		Templates map[string]struct{ Cases map[string]answer }
	}
	readGolden(t, "templates.json.gz", &golden)
	loops := 0
	for name, g := range golden.Templates {
		source, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		template, err := Parse(string(source))
		if err != nil {
			t.Fatal(err)
		}
		out := g.Cases["parts"].Out
		want := out != nil && strings.Contains(*out, "part one") && !strings.Contains(*out, `'type'`) && !strings.Contains(*out, `"type"`)
		if got := template.LoopsOver("messages", "content"); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
		if want {
			loops++
		}
	}
	t.Logf("%d of %d", loops, len(golden.Templates))
}
