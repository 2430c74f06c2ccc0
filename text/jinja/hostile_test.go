package jinja

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// hostile are templates that would run for ever, or use up the stack or the memory.
func hostile() map[string]string {
	loop, end := "{% for a in range(3000) %}", "{% endfor %}"
	double := func(step string) string {
		return "{% set ns = namespace(s='xxxxxxxx', l=[1], t=(1,), d={}) %}{% for i in range(90000) %}" + step + end
	}
	return map[string]string{
		"a long range":             "{% for i in range(10000000) %}x{% endfor %}",
		"a longer range":           "{{ range(10000000000)|length }}",
		"an overflowing range":     "{{ range(-9223372036854775807, 9223372036854775807)|length }}",
		"nested loops":             strings.Repeat(loop, 3) + "x" + strings.Repeat(end, 3),
		"nested loops of nothing":  strings.Repeat("{%- for a in range(3000) -%}", 3) + strings.Repeat(end, 3),
		"loops over text":          strings.Repeat("{% for a in 'xxxxxxxxxxxxxxxx' %}", 12) + strings.Repeat(end, 12),
		"doubled strings":          double("{% set ns.s = ns.s + ns.s %}"),
		"doubled by ~":             double("{% set ns.s = ns.s ~ ns.s %}"),
		"doubled by format":        double("{% set ns.s = '{0}{0}'.format(ns.s) %}"),
		"doubled by percent":       double("{% set ns.s = '%s%s' % (ns.s, ns.s) %}"),
		"doubled by replace":       double("{% set ns.s = ns.s.replace('x', 'xx') %}"),
		"doubled by join":          double("{% set ns.s = ns.s.join(['x', ns.s]) %}"),
		"doubled lists":            double("{% set ns.l = ns.l + ns.l %}"),
		"doubled by tojson":        double("{% set ns.s = ns.s|tojson|tojson %}"),
		"doubled by upper":         double("{% set ns.s = (ns.s ~ 'ß')|upper ~ ns.s %}"),
		"shared lists printed":     "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
		"shared lists as JSON":     "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l|tojson }}",
		"shared lists compared":    "{% set ns = namespace(l=[1], m=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% set ns.m = [ns.m, ns.m] %}{% endfor %}{{ ns.l == ns.m }}",
		"shared tuples as keys":    "{% set ns = namespace(t=(1,)) %}{% for i in range(60) %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}{{ {ns.t: 1} }}",
		"deep tuples as keys":      double("{% set ns.t = (ns.t,) %}") + "{{ {ns.t: 1} }}",
		"deep lists printed":       double("{% set ns.l = [ns.l] %}") + "{{ ns.l }}",
		"a namespace in itself":    "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}",
		"a growing dict":           double("{% set ns.d = dict(ns.d, **{i|string: ns.d}) %}"),
		"repeated text":            "{{ ('x' * 4000000000)|length }}",
		"repeated lists":           "{{ ([1, 2] * 4611686018427387904)|length }}",
		"repeated by a big number": "{{ ('x' * 10 ** 30)|length }}",
		"a macro of itself":        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
		"macros of each other":     "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}",
		"a caller of itself":       "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}",
		"a recursive loop":         "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
		"a block of itself":        "{% block b %}{{ self.b() }}{% endblock %}",
		"a default of itself":      "{% macro f(a=f()) %}{% endmacro %}{{ f() }}",
		"macros in a tree":         "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
		"a wide indent":            "{{ 'a\nb'|indent(2000000000) }}",
		"a wide center":            "{{ 'x'|center(4000000000) }}",
		"a wide zfill":             "{{ 'x'.zfill(10 ** 40) }}",
		"wide tabs":                "{{ '\t'.expandtabs(10 ** 15) }}",
		"a wide format":            "{{ '{:>9999999999}'.format(1) }}",
		"a precise format":         "{{ '%.999999999f' % 1.5 }}",
		"a wide percent":           "{{ '%*d' % (10 ** 11, 1) }}",
		"wide JSON":                "{{ [1]|tojson(indent=10**10) }}",
		"many slices":              "{{ [1]|slice(10**11)|list|length }}",
		"a batch to fill":          "{{ [1]|batch(10**11, 0)|list|length }}",
		"a large power":            "{{ 10 ** (10 ** 10) }}",
		"large products":           "{% set ns = namespace(n=3) %}{% for i in range(99) %}{% set ns.n = ns.n * ns.n %}{% endfor %}{{ ns.n }}",
		"rounding to tens":         "{{ 5|round(-10**15) }}{{ 1/0 }}",
		"many parentheses":         "{{" + strings.Repeat("(", MaxSource-2),
		"many brackets":            "{{" + strings.Repeat("[", MaxSource-2),
		"many minus signs":         "{{" + strings.Repeat("-", MaxSource-4) + "1}}",
		"many nots":                "{{" + strings.Repeat("not ", MaxSource/4-2) + "1}}",
		"many ifs":                 strings.Repeat("{%if 1%}", MaxSource/8),
		"many elses":               "{{" + strings.Repeat("1 if 0 else ", MaxSource/12-1) + "1}}",
		"a long sum":               "{{" + strings.Repeat("1+", MaxSource/2-3) + "[]}}",
		"a large source":           strings.Repeat("x", MaxSource+1),
		"dunder attributes":        "{{ ''.__class__.__mro__ }}",
		"attributes by format":     "{{ '{0.__class__.__mro__}'.format('') }}",
		"attributes by map":        "{{ [1]|map(attribute='__class__.__mro__')|list|tojson }}",
		"include":                  "{% include '/etc/hostname' %}",
		"import":                   "{% import '/etc/hostname' as x %}{{ x }}",
		"from":                     "{% from '/etc/hostname' import x %}",
		"extends":                  "{% extends '/etc/hostname' %}",
		"divided by zero":          "{{ 1 // 0 }}",
		"modulo zero":              "{{ 1 % 0 }}",
		"a step of zero":           "{{ 'abc'[::0] }}",
		"an unclosed tag":          "{% for a in b",
		"an unclosed quote":        "{{ 'a\\",
		"an unclosed comment":      "{# a",
		"an unclosed raw":          "{% raw %}a",
		"a long message":           "{{ raise_exception('a\nb' * 10000) }}",
		"half a character":         `{{ "\ud83d" }}`,
		"a test without argument":  "{{ [1]|selectattr('c', 'eq')|list }}",
	}
}

// Hostile templates end with an error that says so, within two seconds, with bounded
// memory and without anything left behind.
func TestHostileTemplates(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, source := range hostile() {
		t.Run(name, func(t *testing.T) { endsWithin(t, source, 2*time.Second) })
	}
}

// A context ends a rendering that has steps left.
func TestContextEndsRendering(t *testing.T) {
	template, err := Parse("{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = template.Render(ctx, nil, Options{Limits: Limits{Steps: 1 << 40, Bytes: 1 << 40}})
	if !errors.Is(err, ErrLimit) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want ErrLimit of the context", err)
	}
}

// Each limit is named by the error that it gives.
func TestLimitsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		limits Limits
		want   string
	}{
		"steps": {"{% for a in range(100) %}{% endfor %}", Limits{Steps: 50}, "after 50 steps"},
		"bytes": {"{{ 'x' * 1000 }}", Limits{Bytes: 500}, "more than 500 bytes"},
		"depth": {"{{ [[[[[[1]]]]]] }}", Limits{Depth: 5}, "more than 5 deep"},
	} {
		template, err := Parse(c.source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := template.Render(context.Background(), nil, Options{}); err != nil {
			t.Errorf("%s: %v without the limit", name, err)
		}
		_, err = template.Render(context.Background(), nil, Options{Limits: c.limits})
		if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// What a request nests deep is no danger.
func TestDeepValues(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 400) + "1" + strings.Repeat("]}", 400)
	v, err := FromJSON([]byte(deep), 1000)
	if err != nil {
		t.Fatal(err)
	}
	got, err := render("{{ v|tojson(separators=(',', ':')) }}", map[string]Value{"v": v})
	if err != nil || got != deep {
		t.Errorf("%.40q, %v", got, err)
	}
	if _, err := FromJSON([]byte(deep), 100); err == nil {
		t.Error("it nests deeper than it may")
	}
}
