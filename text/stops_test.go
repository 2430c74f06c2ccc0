package text

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tokensCodec is a codec that only decodes: token i stands for the bytes of
// tokens[i]; those in angle brackets with bars are special.
func tokensCodec(tokens ...string) *Codec {
	d := &definition{tokens: tokens, spell: spelling{hex: none, bytes: true}}
	for i, t := range tokens {
		d.added = append(d.added, addedToken{id: int32(i), content: t, special: strings.HasPrefix(t, "<|")})
	}
	return &Codec{texts: newTokenTexts(d)}
}

// ids counts: 0, 1, …
func ids(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

func newStops(t *testing.T, c *Codec, list ...string) *Stops {
	t.Helper()
	s, err := NewStops(c, list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ending is what a request comes to whose tokens are these, one a step.
type ending struct {
	text, stopped string
	tokens        int // that belong to it
}

// follow runs a request to its end, which the matcher decides, and checks that the
// session agrees.
func follow(t *testing.T, s *Stops, tokens []int32) ending {
	t.Helper()
	m, session := s.NewMatcher(), s.NewSession(false)
	var deltas strings.Builder
	for i, id := range tokens {
		if session.Stopped() != "" {
			t.Fatalf("the session ended before token %d, the matcher did not", i)
		}
		n := m.Match([]int32{id})
		deltas.WriteString(session.Push([]int32{id}))
		if n < 0 {
			continue
		}
		if after := session.Push(tokens[i:]) + session.Finish(); after != "" || n != 1 {
			t.Fatalf("%q follows the end, %d ids of 1 matched", after, n)
		}
		if deltas.String() != session.Text() || session.Stopped() == "" {
			t.Fatalf("streamed %q, the text is %q, stopped by %q", &deltas, session.Text(), session.Stopped())
		}
		return ending{session.Text(), session.Stopped(), i + 1}
	}
	deltas.WriteString(session.Finish())
	if deltas.String() != session.Text() {
		t.Fatalf("streamed %q, the text is %q", &deltas, session.Text())
	}
	return ending{session.Text(), session.Stopped(), len(tokens)}
}

// Field report E4 and more of its kind.
func TestStopStringsAcrossAndInsideTokens(t *testing.T) {
	for _, x := range []struct {
		tokens, stops []string
		want          ending
	}{
		{[]string{"x", "AB", "CD", "y"}, []string{"BC"}, ending{"xA", "BC", 3}},
		{[]string{"x", "AB", "CD", "y"}, []string{"C", "BC"}, ending{"xA", "BC", 3}},
		{[]string{"x", "AB", "CD", "y"}, []string{"D", "ABCD"}, ending{"x", "ABCD", 3}},
		{[]string{"x", "AB", "CD", "y"}, []string{"ABCDy", "C"}, ending{"xAB", "C", 3}},
		{[]string{"x", "AB", "CD", "y"}, []string{"x"}, ending{"", "x", 1}},
		{[]string{"x", "AB", "CD", "y"}, []string{"y", "z"}, ending{"xABCD", "y", 4}},
		{[]string{"x", "AB", "CD", "y"}, nil, ending{"xABCDy", "", 4}},
		{[]string{"AB", "CD"}, []string{"BC", "BC"}, ending{"A", "BC", 2}},
		{[]string{"a", "a", "ab"}, []string{"aab"}, ending{"a", "aab", 3}},
		{[]string{"abab", "ac"}, []string{"ababac"}, ending{"", "ababac", 2}},
		{[]string{"ababab", "ac"}, []string{"ababac"}, ending{"ab", "ababac", 2}},
		{[]string{"E", "<|x|>", "N", "D"}, []string{"END"}, ending{"", "END", 4}},
		{[]string{"a", "<|x|>", "b"}, []string{"<|x|>"}, ending{"ab", "", 3}},
		{[]string{"a\xE4\xBD", "\xA0E", "ND"}, []string{"END"}, ending{"a你", "END", 3}},
		{[]string{"\xE4\xBD", "\xA0", "x"}, []string{"你"}, ending{"", "你", 2}},
		{[]string{"\xC3", "\xA8", "\xC3\xA9"}, []string{"é"}, ending{"è", "é", 3}},
		{[]string{"a\xE4\xBD", "b"}, []string{"\uFFFD"}, ending{"a", "\uFFFD", 2}},
		{[]string{"a\xE4\xBD"}, []string{"\uFFFD"}, ending{"a\uFFFD", "", 1}},
	} {
		c := tokensCodec(x.tokens...)
		if got := follow(t, newStops(t, c, x.stops...), ids(len(x.tokens))); got != x.want {
			t.Errorf("tokens %q, stops %q: %+v, want %+v", x.tokens, x.stops, got, x.want)
		}
	}
}

// Field report E3: what is held back comes out when something else ends the text.
func TestHeldBackTextIsFlushed(t *testing.T) {
	c := tokensCodec("ab", "#", "#", "<|end|>")
	for _, tokens := range [][]int32{{0, 1, 2, 3}, {0, 1, 2}} { // by its end token; by the limit, or cancelled
		s := newStops(t, c, "###END").NewSession(false)
		if got := s.Push(tokens); got != "ab" {
			t.Errorf("%v: %q before the end, want ab", tokens, got)
		}
		if got := s.Finish(); got != "##" || s.Text() != "ab##" || s.Stopped() != "" || s.Finish() != "" {
			t.Errorf("%v: %q at the end, text %q, stopped by %q", tokens, got, s.Text(), s.Stopped())
		}
	}
}

// What can be no start of a stop string is given at once.
func TestNothingIsHeldBackInVain(t *testing.T) {
	c := tokensCodec("Hello", " #", "#x", "#", "##", "#")
	s := newStops(t, c, "###END").NewSession(false)
	for i, want := range []string{"Hello", " ", "##x", "", "", "#"} {
		if got := s.Push([]int32{int32(i)}); got != want {
			t.Errorf("token %d gives %q, want %q", i, got, want)
		}
	}
}

func TestStopStringKept(t *testing.T) {
	c := tokensCodec("x", "AB", "CD", "y")
	s := newStops(t, c, "BC").NewSession(true)
	if got := s.Push(ids(4)); got != "xABC" || s.Finish() != "" || s.Stopped() != "BC" {
		t.Errorf("%q, stopped by %q", got, s.Stopped())
	}
}

func TestMatchCountsTheIDs(t *testing.T) {
	c := tokensCodec("x", "AB", "CD", "y")
	m := newStops(t, c, "BC").NewMatcher()
	if n := m.Match([]int32{0, 0, 1}); n != -1 {
		t.Errorf("%d before the end", n)
	}
	if n := m.Match([]int32{2, 3, 3}); n != 1 {
		t.Errorf("%d ids belong to it, want 1", n)
	}
}

func TestStopsThatCannotBe(t *testing.T) {
	c := tokensCodec("a")
	for name, list := range map[string][]string{
		"empty": {"a", ""}, "long": {strings.Repeat("a", MaxStopBytes+1)}, "not UTF-8": {"\xE4\xBD"}, "too many": make([]string, MaxStops+1),
	} {
		if _, err := NewStops(c, list); !errors.Is(err, ErrStops) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewStops(nil, []string{"a"}); !errors.Is(err, ErrNoTokenizer) {
		t.Errorf("without a tokenizer: %v", err)
	}
	most := make([]string, MaxStops)
	for i := range most {
		most[i] = fmt.Sprintf("%0*d", MaxStopBytes, i)
	}
	newStops(t, c, most...)
}

// endOf is the plain way: the end of the first stop string in a text, and which;
// -1: none.
func endOf(text string, list []string) (end int, stopped string) {
	end = -1
	for _, s := range list {
		at := strings.Index(text, s)
		if at < 0 {
			continue
		}
		if e := at + len(s); end < 0 || e < end || e == end && len(s) > len(stopped) {
			end, stopped = e, s
		}
	}
	return end, stopped
}

// Whatever the tokens, the stop strings and the steps: the text, the count of ids
// and what is held back are those of the plain way.
func TestStopsAreThoseOfThePlainSearch(t *testing.T) {
	tokens := []string{"a", "b", "ab", "ba", "aab", "é", "\xC3", "\xA9", "你", "\xE4\xBD", "\xA0a", "<|x|>", "\uFFFD", "bbaé"}
	c := tokensCodec(tokens...)
	stop := rapid.StringOfN(rapid.SampledFrom([]rune("aaabbé你\uFFFD")), 1, 6, -1)
	rapid.Check(t, func(r *rapid.T) {
		list := rapid.SliceOfN(stop, 1, 6).Draw(r, "stops")
		drawn := rapid.SliceOfN(rapid.Int32Range(-1, int32(len(tokens))), 12, 60).Draw(r, "ids")
		s := newStops(t, c, list...)
		m, session, plain := s.NewMatcher(), s.NewSession(false), c.NewDecoder()
		longest := 0
		for _, s := range list {
			longest = max(longest, len(s)-1)
		}
		var deltas, whole strings.Builder
		for rest := drawn; len(rest) > 0; {
			step := rest[:rapid.IntRange(1, min(4, len(rest))).Draw(r, "step")]
			rest = rest[len(step):]
			want := -1
			for i, id := range step {
				whole.WriteString(plain.Push([]int32{id}))
				if end, _ := endOf(whole.String(), list); end >= 0 {
					want = i + 1
					break
				}
			}
			got := m.Match(step)
			deltas.WriteString(session.Push(step))
			if got != want || (session.Stopped() != "") != (want > 0) {
				r.Fatalf("text %q: %d ids match, want %d; stopped by %q", &whole, got, want, session.Stopped())
			}
			if want > 0 {
				end, stopped := endOf(whole.String(), list)
				if text := whole.String()[:end-len(stopped)]; deltas.String() != text || session.Text() != text || session.Stopped() != stopped {
					r.Fatalf("%q by %q, want %q by %q", &deltas, session.Stopped(), text, stopped)
				}
				return
			}
			if held := whole.Len() - deltas.Len(); held > longest || deltas.String() != whole.String()[:deltas.Len()] {
				r.Fatalf("%q is given of %q with stops %q", &deltas, &whole, list)
			}
		}
		deltas.WriteString(session.Finish())
		if want := c.Decode(drawn); deltas.String() != want || session.Text() != want {
			r.Fatalf("%q, want %q", &deltas, want)
		}
	})
}

// Once its buffers have grown, a matcher takes no memory.
func TestMatchTakesNoMemory(t *testing.T) {
	c := tokensCodec("ab", "你\xE4", "\xBD\xA0", "é<|", "<|x|>")
	m := newStops(t, c, "abc", "你你你", "<|end", "b你你é<|b").NewMatcher()
	step := ids(5)
	if n := testing.AllocsPerRun(100, func() {
		if m.Match(step) >= 0 {
			t.Fatal("found what is not there")
		}
	}); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

// A text that falls back as often as it can costs no more than its length.
func BenchmarkMatch(b *testing.B) {
	c := tokensCodec(strings.Repeat("a", 64))
	s, err := NewStops(c, []string{strings.Repeat("a", 1023) + "b", strings.Repeat("ab", 512)})
	if err != nil {
		b.Fatal(err)
	}
	m := s.NewMatcher()
	b.SetBytes(64)
	for b.Loop() {
		m.Match([]int32{0})
	}
}
