package grammar

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// chainOf is a schema of n definitions, each of which is the next.
func chainOf(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/r0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"r%d":{"$ref":"#/$defs/r%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"r%d":{"type":"null"}}}`, n)
	return b.String()
}

// arrows are n classes of all letters and another arrow each.
func arrows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `[\pL\x{%x}]`, 0x2190+i)
	}
	return b.String()
}

// Field report K5: what is made to exhaust a compiler is an error, soon, in little
// memory, and never the end of the process.
func TestK5HostileGrammarsAreRefused(t *testing.T) {
	nested := func(open, close string, n int) string { return strings.Repeat(open, n) + strings.Repeat(close, n) }
	for _, c := range []struct {
		name string
		spec Spec
		want error
	}{
		{"60,000 nested groups", Spec{Regex: nested("(", ")", 60_000)}, ErrTooLarge},
		{"5,000 nested groups", Spec{Regex: strings.Repeat("(", 5000) + "a" + strings.Repeat(")", 5000)}, ErrTooLarge},
		{"60,000 nested groups in a schema", schema(fmt.Sprintf(`{"type":"string","pattern":%q}`, nested("(", ")", 60_000))), ErrTooLarge},
		{"nested repetitions", Spec{Regex: `(a{1,1000}){1,1000}`}, ErrTooLarge},
		{"nested repetitions in a schema", schema(`{"type":"string","pattern":"(a{1,1000}){1,1000}"}`), ErrTooLarge},
		{"many repetitions", Spec{Regex: strings.Repeat("a{1000}", 1000)}, ErrTooLarge},
		{"large classes", Spec{Regex: strings.Repeat(`\pL{1000}`, 800)}, ErrTooLarge},
		{"different large classes", Spec{Regex: arrows(650)}, ErrTooLarge},
		{"nothing to repeat", Spec{Regex: "*a"}, ErrSpec},
		{"nothing to repeat, counted", Spec{Regex: "{2}{3}+*"}, ErrSpec},
		{"unclosed group", Spec{Regex: "(a"}, ErrSpec},
		{"look-ahead", Spec{Regex: "(?=a)b"}, ErrUnsupported},
		{"look-behind", Spec{Regex: "(?<!a)b"}, ErrUnsupported},
		{"reference back", Spec{Regex: `(a)\1`}, ErrUnsupported},
		{"word boundary", Spec{Regex: `a\b`}, ErrUnsupported},
		{"line begin", Spec{Regex: `(?m)^a`}, ErrUnsupported},
		{"no character", Spec{Regex: `[^\x00-\x{10FFFF}]`}, ErrNothing},
		{"5,000 rules in a chain", schema(chainOf(5000)), ErrTooLarge},
		{"reference to itself", schema(`{"$ref":"#"}`), ErrNothing},
		{"references in a circle", schema(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`), ErrNothing},
		{"value without an end", schema(`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`), ErrNothing},
		{"nested schemas", schema(nested(`{"items":`, "}", 5000)), ErrTooLarge},
		{"nested arrays", schema(`{"const":` + nested("[", "]", 60_000) + "}"), ErrTooLarge},
		{"not JSON", schema(`{"a"`), ErrSpec},
		{"two values", schema(`{} {}`), ErrSpec},
		{"a key twice", schema(`{"type":"string","type":"null"}`), ErrSpec},
		{"not UTF-8", schema("{\"const\":\"\xff\"}"), ErrSpec},
		{"an empty schema text", Spec{Schema: []byte{}}, ErrSpec},
		{"many items", schema(`{"type":"array","minItems":100000}`), ErrTooLarge},
		{"very many items", schema(`{"type":"array","maxItems":99999999999999999999}`), ErrSpec},
		{"many characters", schema(`{"type":"string","minLength":140000}`), ErrTooLarge},
		{"a bound with many digits", schema(`{"minimum":1e999999999}`), ErrSpec},
		{"a pattern beside lengths", schema(`{"pattern":"(a|b|c|d){1000}","minLength":9000,"maxLength":10000}`), ErrTooLarge},
		{"large schema", schema(`{"title":"` + strings.Repeat("a", maxSchema) + `"}`), ErrTooLarge},
		{"a pattern that is no text", Spec{Regex: "\xff"}, ErrSpec},
		{"nothing asked for", Spec{}, ErrSpec},
		{"two things asked for", Spec{Regex: "a", JSON: true}, ErrSpec},
		{"no choice", Spec{Choices: []string{}}, ErrSpec},
		{"choices that are no text", Spec{Choices: []string{"\xff"}}, ErrSpec},
		{"a text around it that is none", Spec{JSON: true, After: "\xff"}, ErrSpec},
		{"many choices", Spec{Choices: []string{strings.Repeat("a", maxChoices), "b"}}, ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			var err error
			took := time.Hour
			for try := 0; try < 5 && !(raced && try > 0) && took > 100*time.Millisecond; try++ { // other programs run beside this one
				runtime.ReadMemStats(&before)
				began := time.Now()
				_, err = Compile(context.Background(), c.spec, letters())
				took = time.Since(began)
				runtime.ReadMemStats(&after)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if took > 100*time.Millisecond && !raced {
				t.Errorf("took %v", took)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("took %d MiB", n>>20)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 500) {
				t.Errorf("more than a line: %q", err)
			}
		})
	}
}

// A text that may be read in very many ways fails its own request, soon, instead of
// holding up all others.
func TestMasksTakeBoundedTime(t *testing.T) {
	codec := smolCodec(t)
	v := NewVocabulary(codec)
	for _, e := range []string{`(.*x.{900}y|.*)*`, `(a?){1000}b`, `(\w{1,500}\s?)*(\w{1,400}\d)+`, `(.{0,30}a.{0,30}){30}`} {
		g, err := Compile(context.Background(), Spec{Regex: e}, v)
		if err != nil {
			t.Logf("%s: %v", e, err)
			continue
		}
		p, logits := g.NewProcessor(nil), make([]float32, v.size)
		var worst time.Duration
		ids := codec.EncodeRaw("aaaaxaxxaxaxaxaaa ax axa xa aax ax ax xxx axaxaxax")
		for i := range ids {
			began := time.Now()
			if err = p.Process(ids[:i], 0, logits); err != nil {
				break
			}
			worst = max(worst, time.Since(began))
		}
		t.Logf("%s: %v at most, then %v", e, worst, err)
		if worst > time.Second && !raced {
			t.Errorf("%s: a mask took %v", e, worst)
		}
		if err != nil && !errors.Is(err, ErrTooAmbiguous) && !errors.Is(err, ErrLeft) {
			t.Errorf("%s: %v", e, err)
		}
		if g.machine.bytes > maxCache+maxCache/8 {
			t.Errorf("%s: %d bytes are kept", e, g.machine.bytes)
		}
	}
}

func TestCompilingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Compile(ctx, schema(person), letters()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// What is large and yet allowed is compiled in a second, within 64 MiB.
func TestLargeGrammars(t *testing.T) {
	var members, names strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&members, `"member %d":{"type":"string","maxLength":9},`, i)
		fmt.Fprintf(&names, `"value %d",`, i)
	}
	for name, spec := range map[string]Spec{
		"characters": schema(`{"type":"string","maxLength":60000}`),
		"pattern":    schema(`{"type":"string","pattern":"^(\\w+ ){3}","maxLength":1000}`),
		"items":      schema(`{"type":"array","items":{"type":"integer"},"maxItems":10000}`),
		"members":    schema(`{"type":"object","properties":{` + members.String() + `"z":{}}}`),
		"values":     schema(`{"enum":[` + names.String() + `1]}`),
		"references": schema(chainOf(1000)),
		"regex":      {Regex: strings.Repeat(`\pL{1000}`, 30)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		g, err := Compile(context.Background(), spec, letters())
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if err != nil || took > time.Second && !raced || after.TotalAlloc-before.TotalAlloc > 64<<20 {
			t.Errorf("%s: %v after %v and %d MiB", name, err, took, (after.TotalAlloc-before.TotalAlloc)>>20)
			continue
		}
		t.Logf("%s: %v, %d instructions, %d KiB", name, took, len(g.machine.code), (after.TotalAlloc-before.TotalAlloc)>>10)
	}
}

// Values nest as deep as is said, and not for ever; what is too deep to be closed is not
// begun.
func TestNestingIsBounded(t *testing.T) {
	for name, spec := range map[string]Spec{
		"any":       schema(`{}`),
		"arrays":    schema(`{"type":"array","items":{"$ref":"#"}}`),
		"reference": schema(`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/a"}},{"type":"null"}]}}}`),
	} {
		g := compile(t, spec, letters())
		if _, whole := read(g, strings.Repeat("[", MaxNesting)+strings.Repeat("]", MaxNesting)); !whole {
			t.Errorf("%s: %d deep is refused", name, MaxNesting)
		}
		if begins, _ := read(g, strings.Repeat("[", MaxNesting+16)); begins {
			t.Errorf("%s: %d deep is begun", name, MaxNesting+16)
		}
	}
}

// What follows a value that nests must find its frames too.
func TestWhatIsBegunCanBeEnded(t *testing.T) {
	const source = `{"type":"object","properties":{"n":{"$ref":"#"},"v":{"type":"object","properties":{"w":{"type":"array","items":{"type":"string","maxLength":3}}},
		"required":["w"]}},"required":["v"]}`
	g := compile(t, schema(source), letters())
	deep := 0
	for begins := true; begins; deep++ {
		begins, _ = read(g, strings.Repeat(`{"n":`, deep+1)+`{`)
	}
	deep--
	text := strings.Repeat(`{"n":`, deep) + `{"v":{"w":[]}}` + strings.Repeat(`,"v":{"w":[]}}`, deep)
	if _, whole := read(g, text); !whole || deep < MaxNesting-4 {
		t.Errorf("%d deep is begun and cannot be ended", deep)
	}
}
