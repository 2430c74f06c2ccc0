package jinja

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

// sly are templates whose work is in the length of a few values, not in their number.
func sly() map[string]string {
	var names strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&names, "a%d,", 20000-i)
	}
	named := "{% set d = dict.fromkeys('" + names.String()[:60000] + "'.split(',')) %}"
	params := names.String()[:60000]
	return map[string]string{
		"sorted by many names":       "{{ range(100000)|sort(attribute='x,'*1000000) }}",
		"sorted by commas":           "{{ range(100000)|sort(attribute=(','*1000)*30000) }}",
		"a long way with a default":  "{{ range(100000)|map(attribute='a.'*1000000, default=1)|list }}",
		"a long way of dots":         "{{ [1]|map(attribute=('.'*1000)*30000, default=1)|list }}",
		"long texts are lower":       "{% set s = ('1'*1000) * 6000 %}{% for i in range(100000) %}{% if s is lower %}{% endif %}{% endfor %}",
		"a long way to the largest":  "{% set ns = namespace() %}{% set ns.a = ns %}{{ ([ns] * 100000)|max(attribute='a.'*1000000 ~ 'a') }}",
		"long ways in formats":       "{% set ns = namespace() %}{% set ns.a = ns %}{% set f = '{0' ~ '.a'*1000000 ~ '}' %}{% for i in range(100000) %}{% if f.format(ns) %}{% endif %}{% endfor %}",
		"many parameters, all named": "{% macro m(" + params + ") %}{% endmacro %}" + named + "{% for i in range(100000) %}{{ m(**d) }}{% endfor %}",
		"many names for a filter":    named + "{{ range(100000)|map('format', **d)|list }}",
		"many names in a format":     named + "{{ ('{a11500}' * 1000000).format(**d) }}",
		"macros that are kept":       "{% set ns = namespace(l=none) %}{% for i in range(100000) %}{% for k in range(100) %}{% macro f() %}{% endmacro %}{% set ns.l = [ns.l, f] %}{% endfor %}{% endfor %}",
		"the parameters of a macro":  "{% macro m(" + params + ") %}{% endmacro %}{% set ns = namespace(l=none) %}{% for i in range(100000) %}{% set ns.l = [ns.l, m.arguments] %}{% endfor %}",
		"what is not there":          "{% set ns = namespace(l=none) %}{% for i in range(100000) %}{% set ns.l = [ns.l" + strings.Repeat(",i.a", 100) + "] %}{% endfor %}",
	}
}

// What hides its work ends as soon as its time is over, or before, with no more memory
// than other templates.
func TestSlyTemplates(t *testing.T) {
	for name, source := range sly() {
		t.Run(name, func(t *testing.T) { endsWithin(t, source, 300*time.Millisecond) })
	}
}

// endsWithin fails unless a template ends with an error that says so, within a time and
// a second, and with at most four times the memory that the limit counts: a text that
// grows is copied.
func endsWithin(t *testing.T, source string, limit time.Duration) {
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // so that the heap is what is used
	peak := watchMemory()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	began := time.Now()
	template, err := Parse(source)
	if err == nil {
		var text Text
		text, err = template.Render(ctx, nil, Options{})
		if err == nil {
			t.Errorf("it renders %.100q", text.String())
		}
	}
	if took := time.Since(began); took > limit+time.Second {
		t.Errorf("it took %v: %v", took, err)
	}
	if most := peak(); most > 256<<20 {
		t.Errorf("the heap had %d MiB", most>>20)
	}
	known := errors.Is(err, ErrLimit) || errors.Is(err, ErrRaised) || errors.Is(err, ErrSyntax) || errors.Is(err, ErrUnsupported)
	if err != nil && (!known || strings.Contains(err.Error(), "\n") || len(err.Error()) > 700 || strings.Contains(err.Error(), "runtime error")) {
		t.Errorf("a bad error: %v", err)
	}
}

// watchMemory looks at the heap until the function that it returns is called, which
// gives the most bytes that were in it beyond those at the beginning.
func watchMemory() func() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heap := func() int64 {
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	first := heap()
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		peak := first
		for {
			select {
			case <-stop:
				most <- max(peak, heap()) - first
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, heap())
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-most
	}
}

// longValues are variables of a few million bytes.
func longValues() map[string]Value {
	s := strings.Repeat("1", 6_000_000)
	d, few := NewDict(), NewDict()
	d.Set(String(s), int64(1))
	for i := range 100_000 {
		few.Set(String(fmt.Sprint("a", i)), nil)
	}
	items := make([]Value, 1_000_000)
	for i := range items {
		items[i] = String("a")
	}
	return map[string]Value{
		"s": String(s), "k": String(s + "x"), "d": d, "names": few, "l": NewList(items), "o": NewDict(),
		"é": String(strings.Repeat("é", 3_000_000)), "f": String("{" + s + "x}"), "words": String(strings.Repeat("a ", 3_000_000)),
	}
}

// Whatever looks at all of a long value takes steps for it.
func TestLongValuesTakeSteps(t *testing.T) {
	vars := longValues()
	for _, x := range []string{
		"o|attr(s)", "o[s]", "s in o", "o.get(s)", "{s: 1}", "dict(d)", "d == d", "'%(a)s' % {s: 1}", "s is lower", "s is upper",
		"s is filter", "s is test", "s|length", "s|count", "s|int", "s|float", "s|center", "s.ljust(1)", "s.zfill(1)",
		"s|truncate(10**9)", "s is sameas(s)", "k.removeprefix(s)", "k.removesuffix(s)", "f.format_map(o)", "s[0]", "é[-1]", "s|wordcount",
		"dict(**names)", "'{a}'.format(**names)", "o|default(**names)",
	} {
		template, err := Parse("{% if " + x + " %}{% endif %}")
		if err != nil {
			t.Fatal(err)
		}
		_, err = template.Render(context.Background(), vars, Options{Limits: Limits{Steps: 50_000}})
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%s takes less than 50,000 steps: %.100v", x, err)
		}
	}
}

// What is made counts as bytes, though it is no text.
func TestValuesTakeBytes(t *testing.T) {
	vars := longValues()
	for source, bytes := range map[string]int64{
		"{% if l|join %}{% endif %}":                                                                                      40 << 20,
		"{% if ('\n' * 100000).splitlines() %}{% endif %}":                                                                10 << 20,
		"{% for i in range(1000) %}{% macro f() %}{% endmacro %}{% endfor %}":                                             200 << 10,
		"{% macro f(a, b, c, d, e) %}{% endmacro %}{% for i in range(1000) %}{{ f() }}{% endfor %}":                       200 << 10,
		"{% macro f(a, b, c, d, e) %}{% endmacro %}{% for i in range(1000) %}{% if f.arguments %}{% endif %}{% endfor %}": 200 << 10,
		"{% for i in range(1000) %}{% if i.a %}{% endif %}{% endfor %}":                                                   60 << 10,
		"{% if [1]|sort(attribute=','*1000) %}{% endif %}":                                                                100 << 10,
		"{% if [{}]|map(attribute='.'*1000, default=o)|list %}{% endif %}":                                                60 << 10,
		"{% if dict(**names) %}{% endif %}":                                                                               10 << 20,
	} {
		template, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		_, err = template.Render(context.Background(), vars, Options{Limits: Limits{Bytes: bytes}})
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%s takes less than %d bytes: %.100v", source, bytes, err)
		}
	}
}

// What only looks at values needs no memory for it.
func TestLookingNeedsNoMemory(t *testing.T) {
	vars := longValues()
	for _, x := range []string{"words|wordcount", "é[-1]", "é[5:6]", "'1'.ljust(2, s[:1])", "''.join(l)"} {
		template, err := Parse("{% if " + x + " %}{% endif %}")
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := template.Render(context.Background(), vars, Options{}); err != nil {
			t.Errorf("%s: %v", x, err)
		}
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 10<<20 {
			t.Errorf("%s took %d MiB", x, taken>>20)
		}
	}
}

// A limit of steps has room for what the limit of bytes allows: changing a text is no
// step for each of its characters.
func TestLimitsAgree(t *testing.T) {
	template, err := Parse("{{ s|lower|length }}{{ s|replace('1', '2')|length }}")
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]Value{"s": String(strings.Repeat("X", 1_000_000))}
	got, err := template.Render(context.Background(), vars, Options{Limits: Limits{Steps: 1_000_000 / 8}})
	if err != nil || got.String() != "10000001000000" {
		t.Errorf("%.20q, %v", got.String(), err)
	}
}
