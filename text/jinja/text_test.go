package jinja

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// marked shows a text with what is foreign in brackets.
func marked(t Text) string {
	var b strings.Builder
	at := 0
	for _, f := range t.Foreign() {
		b.WriteString(t.s[at:f.From] + "[" + t.s[f.From:f.To] + "]")
		at = f.To
	}
	return b.String() + t.s[at:]
}

// A text knows which of its bytes came from the request, whatever is done to it.
func TestForeignTextStaysForeign(t *testing.T) {
	vars := map[string]Value{
		"u": Foreign("  Hi <b>, you  "), "w": Foreign("a,b"), "e": Foreign(""), "é": Foreign("é中"),
		"l": NewList([]Value{Foreign("x"), String("y")}), "c": Foreign("*"),
	}
	d := NewDict()
	d.Set(Foreign("k"), Foreign(`v"`))
	vars["d"] = d
	for source, want := range map[string]string{
		"a{{ u }}b":                                                  "a[  Hi <b>, you  ]b",
		"a{{ u|trim }}b":                                             "a[Hi <b>, you]b",
		"a{{ u.strip() + '!' + u.strip() }}b":                        "a[Hi <b>, you]![Hi <b>, you]b",
		"{{ ('-' ~ w ~ '-')[1:] }}":                                  "[a,b]-",
		"{{ ('-' ~ w ~ '-')[::-1] }}":                                "-[b,a]-",
		"{{ w[0] }}{{ w[1:2] }}.":                                    "[a,].",
		"{{ w.replace(',', '<|x|>') }}":                              "[a]<|x|>[b]",
		"{{ 'a-b'.replace('-', w) }}":                                "a[a,b]b",
		"{{ w.split(',') | join(';') }}":                             "[a];[b]",
		"{{ w.split(',') }}":                                         "['[a]', '[b]']",
		"{{ w|upper }}{{ w|title }}":                                 "[A,BA,b]",
		"{{ w|tojson }}{{ d|tojson }}":                               `"[a,b]"{"[k]": "[v\"]"}`,
		"{{ é|tojson(ensure_ascii=true) }}":                          `"[\u00e9\u4e2d]"`,
		"{{ d }}":                                                    `{'[k]': '[v"]'}`,
		"{{ '%s|%5s' % (w, w) }}":                                    "[a,b]|  [a,b]",
		"{{ '{}|{:>5}|{x}'.format(w, w, x=w) }}":                     "[a,b]|  [a,b]|[a,b]",
		"{{ w.center(7, '*') }}":                                     "**[a,b]**",
		"{{ (w ~ '\n' ~ w)|indent(2) }}":                             "[a,b]\n  [a,b]",
		"{{ u|e }}":                                                  "[  Hi &lt;b&gt;, you  ]",
		"{% for c in w %}{{ c }}-{% endfor %}":                       "[a]-[,]-[b]-",
		"{% set x %}<{{ w }}>{% endset %}{{ x }}":                    "<[a,b]>",
		"{% filter upper %}x{{ w }}{% endfilter %}":                  "X[A,B]",
		"{% macro m(a) %}({{ a }}){% endmacro %}{{ m(w) }}":          "([a,b])",
		"{{ l|join }}{{ l|first }}{{ l|last }}":                      "[x]y[x]y",
		"{{ w.partition(',')|join('|') }}":                           "[a]|[,]|[b]",
		"{{ d.keys()|list|first }}{{ d.items()|list|first|first }}":  "[kk]",
		"{{ (w ~ ' ' ~ w)|truncate(5, true, '…', 0) }}":              "[a,b] …",
		"{{ w|urlencode }}":                                          "[a%2Cb]",
		"{{ w|list|reverse|join }}{{ w|replace('a', 'z') }}":         "[b,a]z[,b]",
		"{{ e }}{{ e ~ 'x' }}":                                       "x",
		"{{ w * 2 }}{{ 'z' * 2 }}":                                   "[a,ba,b]zz",
		"{{ '<<a,b>>'.strip('<>') }}{{ w.lstrip('a') }}":             "a,b[,b]",
		"{{ w|string|length }}":                                      "3",
		"{{ dict(**d) }}{{ namespace(a=1, **d) }}":                   `{'[k]': '[v"]'}<Namespace {'a': 1, '[k]': '[v"]'}>`,
		"{% macro m() %}{{ kwargs }}{% endmacro %}{{ m(b=w, **d) }}": `{'b': '[a,b]', '[k]': '[v"]'}`,
		"{{ '-'.center(4, c) }}{{ '-'.ljust(2, c) }}":                "[*]-[**]-[*]",
		"{{ '{:{}>3}|{:{}=+4}'.format('-', c, 1, c) }}":              "[**]-|+[**]1",
		"{{ 'a,b' == w }}{{ 'a' in w }}{{ {'a,b': 1}[w] }}":          "TrueTrue1",
	} {
		template, err := Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		text, err := template.Render(context.Background(), vars, Options{})
		if got := marked(text); err != nil || got != want {
			t.Errorf("%s: %s, want %s (%v)", source, got, want, err)
		}
	}
}

// What is cut out of a text counts with the marks of its foreign bytes, of which there may
// be more than bytes.
func TestMarksAreCounted(t *testing.T) {
	vars := map[string]Value{"u": Foreign("a")}
	for _, cut := range []string{"t[1:]", "t[:-1]|trim", "t.strip('-')", "t.split('x')", "t.split('a', 1)", "t.removeprefix('a')", "t.removesuffix('-')",
		"t.partition('a')", "t.splitlines()", "t[:1900]|truncate(1800)", "t|replace('x', 'y')", "'{}'.format(t)"} {
		template, err := Parse("{% set t = (u ~ '-') * 1000 %}{% for i in range(20) %}{% set y = " + cut + " %}{% endfor %}")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := template.Render(context.Background(), vars, Options{}); err != nil {
			t.Errorf("%s: %v", cut, err)
		}
		// 20 times 2,000 bytes, and 16,000 for their marks.
		_, err = template.Render(context.Background(), vars, Options{Limits: Limits{Bytes: 20 * 15_000}})
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%s: error %v, want ErrLimit", cut, err)
		}
	}
}
