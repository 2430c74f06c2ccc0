package grammar

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/text"
)

// texts are beginnings of texts of some grammars, whose masks are looked at.
var texts = []struct {
	spec Spec
	text string
}{
	{Spec{JSON: true}, aPerson},
	{Spec{JSON: true}, `{"a":` + strings.Repeat(`[{"b":`, 31) + `[`},
	{schema(person), aPerson},
	{schema(`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"b":{}}},{"type":"object","properties":{"a":{"type":"string","maxLength":3},"c":{"type":"integer"}}}]}`), `{"a": "bcd", "`},
	{schema(`{"type":"object","properties":{"name":{"type":"null"}},"additionalProperties":{"type":"string","pattern":"^.+a.{3}"}}`), `{"name": null, "names": "a banana, an é"`},
	{Spec{Regex: `(\w+ ){2,5}(the|end)\.?`}, "One two three end"},
	{Spec{Regex: `.*(a|ab)*`}, "The abab 中文"},
	{Spec{Regex: `\w{3}[^0-9]{20,200}( ?[a-z ]{90})?\.`}, "One " + strings.Repeat("and two ", 14) + "."},
	{schema(`{"type":"string","minLength":100,"maxLength":220}`), `"` + strings.Repeat(`abcé\n `, 30) + `"`},
	{schema(`{"type":"string","pattern":"^x[a-z]{0,150}y","maxLength":120}`), `"x` + strings.Repeat("abcdefgh", 12) + `y."`},
	{Spec{JSON: true, Before: "<call>\n", After: "\n</call>"}, "<call>\n{\"a\": 1}\n</call>"},
	{Spec{Choices: []string{"yes", "no", "yes, please", "中文"}}, "yes"},
}

// ids is the set of a mask.
func ids(mask []uint64, size int) (list []int32) {
	for id := range size {
		if mask[id/64]>>(id%64)&1 == 1 {
			list = append(list, int32(id))
		}
	}
	return list
}

// What is put together from rules that are looked at alone is what every single token
// does, at every place of a text.
func TestMasksAreWhatEachTokenDoes(t *testing.T) {
	vocabularies := map[string]*Vocabulary{"letters": letters(`{"`, `":`, `", "`, `"},`, "ab", "abb", "the ", "\n  \"", "}}", "]]]", "[[[", "ab", "é", "\xc3", "\xa9a")}
	for name, codec := range codecs(t) {
		vocabularies[name] = NewVocabulary(codec)
	}
	for name, v := range vocabularies {
		for _, c := range texts {
			g := compile(t, c.spec, v)
			m, s := g.machine, g.start
			every := 1 + len(c.text)*v.size/500_000
			for i := range len(c.text) + 1 {
				if i%every == 0 || i == len(c.text) {
					compareMask(t, g, s, name+": "+c.text[:i])
				}
				if i < len(c.text) {
					m.begin()
					s = m.step(s, c.text[i])
				}
			}
			if s == m.nobody {
				t.Errorf("%s: %q is no beginning", name, c.text)
			}
		}
	}
}

func compareMask(t *testing.T, g *Grammar, s *state, at string) {
	t.Helper()
	m := g.machine
	mask, err := m.maskOf(s)
	if err != nil {
		t.Fatal(err)
	}
	for id := range int32(m.vocab.size) {
		_, err := m.read(s, id)
		if got := mask[id/64]>>(id%64)&1 == 1; got != (err == nil) {
			t.Fatalf("%q: token %q is allowed: %t, it alone gives %v", at, m.vocab.text(id), got, err)
		}
	}
}

// Every text that matches can be had, however it is cut into tokens, and may end where
// it is whole.
func TestEveryTextCanBeHad(t *testing.T) {
	for name, codec := range codecs(t) {
		v := NewVocabulary(codec)
		random := rand.New(rand.NewPCG(1, 2))
		for _, c := range schemaCases {
			g := compile(t, schema(c.source), v)
			for _, s := range c.takes {
				spell(t, name, g, codec.EncodeRaw(s))
				spell(t, name, g, cut(v, s, random))
			}
		}
	}
}

// cut spells a text by random tokens.
func cut(v *Vocabulary, s string, random *rand.Rand) (list []int32) {
	for s != "" {
		var found []int32
		for i := int32(1); int(i) < len(v.nodes)-1; {
			n := v.nodes[i]
			if d := int(n.depth); d > len(s) || n.b != s[d-1] {
				i = n.after
				continue
			}
			found = append(found, v.ids[n.ids:v.nodes[i+1].ids]...)
			i++
		}
		if len(found) == 0 {
			return nil // this vocabulary cannot spell it
		}
		id := found[random.IntN(len(found))]
		list = append(list, id)
		s = s[len(v.text(id)):]
	}
	return list
}

func spell(t *testing.T, name string, g *Grammar, list []int32) {
	t.Helper()
	const last = 0
	logits := make([]float32, g.machine.vocab.size)
	p := g.NewProcessor([]int32{last})
	for i := range len(list) + 1 {
		clear(logits)
		if err := p.Process(list[:i], 0, logits); err != nil {
			t.Fatal(err)
		}
		want := int32(last)
		if i < len(list) {
			want = list[i]
		}
		if logits[want] != 0 {
			t.Errorf("%s: token %d of %v, %q, is banned", name, i, list, g.machine.vocab.text(want))
		}
	}
}

// Whatever is drawn under the masks matches, by the word of independent packages, and
// never gets stuck.
func TestWhatIsDrawnMatches(t *testing.T) {
	for name, codec := range codecs(t) {
		v := NewVocabulary(codec)
		random := rand.New(rand.NewPCG(3, 4))
		whole, cutShort := 0, 0
		for _, c := range schemaCases {
			if strings.Contains(c.source, `$defs":{"l"`) {
				continue // which the judge follows for ever
			}
			g, judge := compile(t, schema(c.source), v), validator(t, c.source)
			for range 4 {
				s, ended := drawText(t, g, codec, random)
				if !ended {
					cutShort++
					continue
				}
				whole++
				if err := valid(judge, s); err != nil {
					t.Errorf("%s, %s: %q: %v", name, c.source, s, err)
				}
			}
		}
		t.Logf("%s: %d texts, %d more were cut short", name, whole, cutShort)
		if cutShort > whole/4 {
			t.Error("too few have ended")
		}
	}
}

// drawText draws tokens under the masks, more likely such that end things.
func drawText(t *testing.T, g *Grammar, codec *text.Codec, random *rand.Rand) (s string, ended bool) {
	t.Helper()
	v, at := g.machine.vocab, g.start
	var list []int32
	for range 150 {
		mask, err := g.machine.maskOf(at)
		if err != nil {
			t.Fatal(err)
		}
		allowed := ids(mask, v.size)
		if at.ends && (len(allowed) == 0 || random.IntN(2) == 0) {
			return codec.Decode(list), true
		}
		if len(allowed) == 0 {
			t.Fatalf("stuck after %q", codec.Decode(list))
		}
		id := allowed[random.IntN(len(allowed))]
		ending := slices.DeleteFunc(allowed, func(id int32) bool { return !strings.ContainsAny(string(v.text(id)), `"}]`) })
		if len(ending) > 0 && random.IntN(2) == 0 {
			id = ending[random.IntN(len(ending))]
		}
		list = append(list, id)
		if at, err = g.machine.read(at, id); err != nil {
			t.Fatal(err)
		}
	}
	return "", false
}
