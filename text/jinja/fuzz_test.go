package jinja

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/fuzztest"
)

// FuzzTemplate: any source is refused, fails or renders, and what it renders is UTF-8 whose
// foreign bytes are within it. Memory is bounded by the limits of a rendering.
func FuzzTemplate(f *testing.F) {
	for _, name := range []string{"snippets.json.gz", "language.json.gz"} {
		var golden struct {
			Snippets []struct{ Tmpl string }
		}
		readGolden(f, name, &golden)
		for _, s := range golden.Snippets {
			f.Add(s.Tmpl)
		}
	}
	for _, source := range hostile() {
		if len(source) < 1000 {
			f.Add(source)
		}
	}
	f.Add(tinyChat)
	vars := fuzzVariables(f)
	limits := Limits{Steps: 1 << 16, Bytes: 1 << 20, Depth: 1000}
	fuzztest.Fuzz(f, 16<<20, func(t *testing.T, source string) {
		template, err := Parse(source)
		if err == nil {
			var text Text
			text, err = template.Render(context.Background(), vars, Options{Limits: limits})
			end := 0
			for _, s := range text.Foreign() {
				if s.From < end || s.To <= s.From || s.To > len(text.String()) {
					t.Errorf("%q: bad span %v of %q", source, s, text.String())
				}
				end = s.To
			}
			if valid := strings.ToValidUTF8(source, "") == source; valid && strings.ToValidUTF8(text.String(), "") != text.String() {
				t.Errorf("%q: not UTF-8: %q", source, text.String())
			}
		}
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Errorf("%q: a mistake of the interpreter: %v", source, err)
		}
		if err != nil && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrRaised) && !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q: %v", source, err)
		}
	})
}

// tinyChat does what chat templates do, on a few lines.
const tinyChat = `{{- bos_token }}
{%- set ns = namespace(system='', last=-1) %}
{%- if messages[0]['role'] == 'system' %}{% set ns.system = messages[0].content|trim %}{% set messages = messages[1:] %}{% endif %}
{%- macro call(c) -%}<call>{{ {'name': c.function.name, 'arguments': c.function.arguments}|tojson }}</call>{%- endmacro %}
{%- for m in messages|reverse if m.role == 'user' %}{% if loop.first %}{% set ns.last = messages.index(m) if messages.index is defined else loop.revindex0 %}{% endif %}{% endfor %}
{%- for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) and not tools %}{{ raise_exception('roles must take turns') }}{% endif %}
{{- '<' ~ m.role ~ '>' }}
{%- if m.content is string %}{{ m.content.split('</think>')[-1].lstrip('\n') }}
{%- else %}{% for part in m.content or [] %}{% if part is mapping and part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}{% endif %}
{%- for c in m.tool_calls|default([], true) %}{{ call(c) }}{% endfor %}
{%- if loop.last and add_generation_prompt %}<assistant>{% endif %}
{%- endfor %}
{%- for t in tools or [] %}{% filter indent(2) %}{{ t|tojson(indent=2) }}{% endfilter %}{% endfor -%}
{{ strftime_now('%d %b %Y') }}`

// fuzzVariables are values of every kind, and a conversation.
func fuzzVariables(f *testing.F) map[string]Value {
	vars := variables(f, json.RawMessage(`{"i":7,"f":2.5,"n":null,"t":true,"d":{"a":"é中"},"add_generation_prompt":true,
		"messages":[{"role":"system","content":" Be brief. "},{"role":"user","content":[{"type":"text","text":"Hello"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{"x":[1,null]}}}]},
			{"role":"tool","content":"12","tool_call_id":"1"}],
		"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`))
	vars["bos_token"] = String("<s>")
	vars["s"], vars["l"] = Foreign("Hello World"), NewList([]Value{int64(3), Foreign("b"), nil})
	return vars
}
