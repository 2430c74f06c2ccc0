package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// byteIDs are the ids of a vocabulary in which every byte is a token.
func byteIDs(c *Codec, b []byte) []int32 {
	ids := make([]int32, len(b))
	for i, x := range b {
		ids[i] = c.model.model.(*bpe).bytes[x]
	}
	return ids
}

func TestIllFormedBytesBecomeOneCharacterAPart(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	for _, x := range []struct{ bytes, want string }{
		{"\xE2\x28\xA1", "\uFFFD(\uFFFD"},
		{"\xE2\x80A", "\uFFFDA"},
		{"\xF0\x80\x80A", "\uFFFD\uFFFD\uFFFDA"},
		{"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"\xF0\x9F\x98", "\uFFFD"},
		{"\xC0\x80", "\uFFFD\uFFFD"},
		{"\xF5\x80", "\uFFFD\uFFFD"},
		{"\uFFFD", "\uFFFD"},
		{"a\xE4\xBDb", "a\uFFFDb"},
	} {
		if got := c.Decode(byteIDs(c, []byte(x.bytes))); got != x.want {
			t.Errorf("Decode % X: %q, want %q", x.bytes, got, x.want)
		}
		if got := validUTF8(x.bytes); got != x.want {
			t.Errorf("text % X is taken as %q, want %q", x.bytes, got, x.want)
		}
	}
}

// checkSplit deals ids out in parts and checks that the parts are the whole.
func checkSplit(t interface{ Fatalf(string, ...any) }, c *Codec, ids []int32, cuts []int) {
	d := c.NewDecoder()
	var streamed strings.Builder
	rest := ids
	for _, n := range cuts {
		n = min(n, len(rest))
		part := d.Push(rest[:n])
		rest = rest[n:]
		if len(d.pending) > 3 {
			t.Fatalf("%d bytes held back", len(d.pending))
		}
		if !utf8.ValidString(part) {
			t.Fatalf("half a character: %q", part)
		}
		streamed.WriteString(part)
	}
	streamed.WriteString(d.Push(rest))
	streamed.WriteString(d.Flush())
	if want := c.Decode(ids); streamed.String() != want {
		t.Fatalf("ids %v cut by %v: %q, want %q", ids, cuts, &streamed, want)
	}
	if again := d.Flush(); again != "" {
		t.Fatalf("given twice: %q", again)
	}
}

func TestStreamIsTheWholeTextHoweverItIsCut(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	pieces := []string{"a", "é", "中", "😀", "\xE2", "\x80", "\xF0\x9F", "\xED\xA0", "\xF4", "\xC2", "\xFF", "\uFFFD"}
	rapid.Check(t, func(t *rapid.T) {
		for range 100 {
			b := rapid.OneOf(
				rapid.SliceOfN(rapid.Byte(), 0, 12),
				rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8), func(p []string) []byte { return []byte(strings.Join(p, "")) }),
			).Draw(t, "bytes")
			checkSplit(t, c, byteIDs(c, b), rapid.SliceOfN(rapid.IntRange(0, 4), 0, 8).Draw(t, "cuts"))
		}
	})
}

func TestDecoderHidesSpecialTokensInsideACharacter(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	ids := byteIDs(c, []byte("é"))
	const end = 462 // <|im_end|>
	d := c.NewDecoder()
	if got := d.Push([]int32{ids[0], end}); got != "" {
		t.Errorf("too early: %q", got)
	}
	if got := d.Push([]int32{ids[1], end}); got != "é" {
		t.Errorf("%q, want é", got)
	}
}

func TestAddedTokensAreShownVerbatim(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	const tool, mask = 464, 463 // <tool> is not special, [MASK] is
	ids := append(append([]int32{tool}, byteIDs(c, []byte("ok"))...), mask, tool, -1, 1<<30)
	if got := c.Decode(ids); got != "<tool>ok<tool>" {
		t.Errorf("%q", got)
	}
}

func TestSession(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	ids := byteIDs(c, []byte("a\xF0\x9F"))
	s := NewSession(c)
	if got := s.Push(ids); got != "a" {
		t.Errorf("%q, want a", got)
	}
	if got := s.Finish(); got != "\uFFFD" {
		t.Errorf("at the end %q, want U+FFFD", got)
	}
	if s.Finish() != "" || s.Text() != "a\uFFFD" {
		t.Errorf("text %q", s.Text())
	}
}

func TestSessionWithoutTokenizer(t *testing.T) {
	s := NewSession(nil)
	if s.Push([]int32{1, 2}) != "" || s.Finish() != "" || s.Text() != "" {
		t.Error("text out of nothing")
	}
}

// FuzzRoundTrip: what was encoded comes back, and nothing panics.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"", " ", "Hello  world\r\n", "é中😀", "<tool> [MASK] ADDED", "\xff\xe4\xbd", "it's 'ſ 12345", strings.Repeat("a", 100)} {
		f.Add([]byte(s))
	}
	c := smallCodec(f, "bpe_bytelevel_gpt2")
	nfcCodec := smallCodec(f, "bpe_llama3_split_nfc")
	f.Fuzz(func(t *testing.T, b []byte) {
		s := string(b)
		valid := string(bytes.ToValidUTF8(b, []byte(replacement)))
		if got := c.DecodeAll(c.EncodeRaw(s)); utf8.ValidString(s) && withoutStripped(got) != withoutStripped(s) {
			t.Errorf("%q came back as %q", s, got)
		}
		if got := nfcCodec.DecodeAll(nfcCodec.EncodeRaw(valid)); withoutStripped(got) != withoutStripped(nfc(valid)) {
			t.Errorf("%q came back as %q", valid, got)
		}
		checkSplit(t, c, c.Encode(s), []int{1, 2, 0, 3})
	})
}

// withoutStripped is s without white space where a token that strips it is
// there, as that does not come back.
func withoutStripped(s string) string {
	if strings.Contains(s, "[MASK]") || strings.Contains(s, "<tool>") {
		return strings.Join(strings.Fields(s), "")
	}
	return s
}

// A byte is what it is where a text starts, as Metaspace takes away marks of spaces alone.
func TestByteOfASpaceStartsAText(t *testing.T) {
	d := definition{tokens: []string{"<0x20>", "\u2581a"}}
	const decoder = `{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always"}]}`
	if err := d.readDecoder([]byte(decoder)); err != nil {
		t.Fatal(err)
	}
	c := &Codec{texts: newTokenTexts(&d)}
	for want, ids := range map[string][]int32{"  a": {0, 1}, "a": {1}, "a ": {1, 0}} {
		if got := c.Decode(ids); got != want {
			t.Errorf("%v: %q, want %q", ids, got, want)
		}
	}
}

// DecodeAll is Decode where nothing is hidden, special or ending a text.
func TestDecodeAll(t *testing.T) {
	d := definition{tokens: []string{"<s>", "\u2581a", "b"}, added: []addedToken{{id: 0, content: "<s>", special: true}}}
	if err := d.readDecoder([]byte(`{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always"}`)); err != nil {
		t.Fatal(err)
	}
	c := (&Codec{texts: newTokenTexts(&d)}).Hiding([]int32{2})
	for want, ids := range map[string][]int32{"a ab": {1, 1, 2}, "<s> ab": {0, 1, 2}, "b": {2, 9}} {
		if got := c.DecodeAll(ids); got != want {
			t.Errorf("%v: %q, want %q", ids, got, want)
		}
	}
}
