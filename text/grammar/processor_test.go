package grammar

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

var _ sampling.Processor = (*Processor)(nil)

// look is the logits that a processor leaves of zeros.
func look(t testing.TB, p *Processor, ids []int32, prompt, size int) []float32 {
	t.Helper()
	logits := make([]float32, size)
	if err := p.Process(ids, prompt, logits); err != nil {
		t.Fatal(err)
	}
	return logits
}

func TestEndsAreAllowedWhereTheTextMayEnd(t *testing.T) {
	v := letters("ab")
	const end, other = 256 + 1, 'b'
	p := compile(t, Spec{Regex: "(ab)+c?"}, v).NewProcessor([]int32{end, other, -1, 5000})
	for _, c := range []struct {
		text    string
		allowed []int32
	}{
		{"", []int32{'a', 256}},
		{"a", nil}, // but for b, which ends the request instead and may not yet
		{"ab", []int32{'a', 'b', 'c', 256, end}},
		{"abc", []int32{'b', end}},
	} {
		logits := look(t, p, []int32("xx"+c.text), 2, 300)
		var allowed []int32
		for id, l := range logits {
			if l == 0 {
				allowed = append(allowed, int32(id))
			} else if !math.IsInf(float64(l), -1) {
				t.Errorf("logit %d is %v", id, l)
			}
		}
		if !slices.Equal(allowed, c.allowed) {
			t.Errorf("%q: %v, want %v", c.text, allowed, c.allowed)
		}
	}
}

func TestLogitsOfWhatIsAllowedStay(t *testing.T) {
	p := compile(t, Spec{Regex: "[ab]*"}, letters()).NewProcessor([]int32{0})
	logits := make([]float32, 256)
	for i := range logits {
		logits[i] = float32(i)
	}
	logits['a'] = float32(math.Inf(-1)) // by another processor
	if err := p.Process(nil, 0, logits); err != nil {
		t.Fatal(err)
	}
	if logits['b'] != 'b' || logits[0] != 0 || !math.IsInf(float64(logits['a']), -1) || !math.IsInf(float64(logits['c']), -1) {
		t.Errorf("%v", logits[:100])
	}
	short := make([]float32, 70)
	if err := p.Process(nil, 0, short); err != nil || !math.IsInf(float64(short[69]), -1) {
		t.Errorf("fewer logits than tokens: %v, %v", err, short)
	}
}

func TestIDsOutsideOfTheGrammar(t *testing.T) {
	p := compile(t, Spec{Regex: "ab"}, letters("")).NewProcessor(nil)
	for _, ids := range [][]int32{{'b'}, {'a', 'a'}, {256}, {-1}, {1 << 30}, {'a', 'b', 'c'}} {
		if err := p.Process(ids, 0, make([]float32, 256)); !errors.Is(err, ErrLeft) {
			t.Errorf("%v: %v, want ErrLeft", ids, err)
		}
	}
	look(t, p, []int32{'a'}, 0, 256)
}

// Where a request must go on and its text cannot, it is told so.
func TestACompleteTextThatMayNotEnd(t *testing.T) {
	g := compile(t, Spec{Regex: "ab*"}, letters())
	exactly := compile(t, Spec{Regex: "ab"}, letters())
	text, logits := []int32("ab"), make([]float32, 256)
	logits['x'] = float32(math.Inf(-1)) // as long as the request must go on
	for _, c := range []struct {
		g    *Grammar
		ends []int32
		want error
	}{{exactly, nil, ErrComplete}, {exactly, []int32{'x'}, ErrComplete}, {exactly, []int32{'x', 'y'}, nil}, {g, []int32{'x'}, nil}, {g, nil, nil}} {
		if err := c.g.NewProcessor(c.ends).Process(text, 0, slices.Clone(logits)); !errors.Is(err, c.want) {
			t.Errorf("ends %v: %v, want %v", c.ends, err, c.want)
		}
	}
}

// walkIDs are ids that a grammar leaves, drawn from seed.
func walkIDs(t *testing.T, g *Grammar, length int, random *rand.Rand) (list []int32) {
	at := g.start
	for range length {
		mask, err := g.machine.maskOf(at)
		if err != nil {
			t.Fatal(err)
		}
		allowed := ids(mask, g.machine.vocab.size)
		if len(allowed) == 0 {
			break
		}
		id := allowed[random.IntN(len(allowed))]
		list = append(list, id)
		if at, err = g.machine.read(at, id); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// The sequences of a request in any order, again, at the same time and with states
// dropped in between: what is answered is a function of the ids.
func TestAnswersDependOnIDsAlone(t *testing.T) {
	v := NewVocabulary(codecs(t)["tiny"])
	spec := schema(person)
	random := rand.New(rand.NewPCG(5, 6))
	for name, limit := range map[string]int{"kept": maxCache, "dropped all the time": 40 << 10} {
		g := compile(t, spec, v)
		g.machine.limit = limit
		ends := []int32{1}
		var sequences [][]int32
		for range 6 {
			sequences = append(sequences, walkIDs(t, g, 60, random))
		}
		want := make(map[*int32][]float32)
		fresh := compile(t, spec, v)
		for _, s := range sequences {
			for i := range s {
				want[&s[i]] = look(t, fresh.NewProcessor(ends), s[:i], 0, v.size)
			}
		}
		p := g.NewProcessor(ends)
		var wait sync.WaitGroup
		for k := range 4 {
			wait.Go(func() {
				random := rand.New(rand.NewPCG(uint64(k), 7))
				for range 300 {
					s := sequences[random.IntN(len(sequences))]
					from := random.IntN(len(s))
					for i := from; i < min(from+3, len(s)); i++ {
						logits := make([]float32, v.size)
						if err := p.Process(s[:i], 0, logits); err != nil || !slices.Equal(logits, want[&s[i]]) {
							t.Errorf("%s: after %v: %v, or another mask", name, s[:i], err)
							return
						}
					}
				}
			})
		}
		wait.Wait()
		if g.machine.bytes > limit+64<<10 {
			t.Errorf("%s: %d bytes are kept", name, g.machine.bytes)
		}
	}
}

func TestTrailsAreBounded(t *testing.T) {
	g := compile(t, Spec{Regex: "[a-z]*"}, letters())
	p := g.NewProcessor(nil)
	for i := range 2 * maxTrails {
		look(t, p, []int32{'a' + int32(i%26), 'a' + int32(i/26)}, 0, 256)
	}
	if len(p.trails) > maxTrails || p.kept > 2*maxTrails {
		t.Errorf("%d trails of %d ids", len(p.trails), p.kept)
	}
	long := slices.Repeat([]int32{'a'}, maxTrailIDs)
	look(t, p, long, 0, 256)
	if len(p.trails) != 1 || p.kept != len(long) {
		t.Errorf("%d trails of %d ids", len(p.trails), p.kept)
	}
	look(t, p, []int32{'b'}, 0, 256)
	if len(p.trails) != 2 && len(p.trails) != 1 || p.kept > maxTrailIDs+1 {
		t.Errorf("%d trails of %d ids", len(p.trails), p.kept)
	}
}
