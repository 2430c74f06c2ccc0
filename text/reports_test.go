package text

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// What went wrong elsewhere, as tests with the numbers of the reports.

// E1: ids whose bytes are no text, one byte a token, dealt out one by one.
func TestReportInvalidPrefix(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	for bytes, want := range map[string]string{
		"\xE2\x28\xA1": "\uFFFD(\uFFFD", "\xE2\x80\x41": "\uFFFDA", "\xF0\x80\x80\x41": "\uFFFD\uFFFD\uFFFDA", "\xED\xA0\x80": "\uFFFD\uFFFD\uFFFD",
	} {
		s := NewSession(c)
		streamed := ""
		for _, id := range byteIDs(c, []byte(bytes)) {
			streamed += s.Push([]int32{id})
		}
		if streamed += s.Finish(); streamed != want || s.Text() != want {
			t.Errorf("% X: %q, want %q", bytes, streamed, want)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		b := make([]byte, 1+random.IntN(12))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		checkSplit(t, c, byteIDs(c, b), []int{random.IntN(4), random.IntN(4), random.IntN(4)})
	}
}

// E5: no space is lost or added where a text is cut into tokens, whatever spaces are
// written as.
func TestReportSpacesDropped(t *testing.T) {
	const strip = `{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}`
	for decoder, freshes := range map[string][2]string{
		`{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}`: {" Hello world !", "  a"},
		strip: {"Hello world !", " a"},
		`{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}`: {"Hello world !", " a"},
		`{"type":"Metaspace","replacement":"▁","prepend_scheme":"never"}`:               {" Hello world !", "  a"},
	} {
		d := definition{tokens: []string{"Say", "▁Hello", "▁world", "▁!", "▁", "▁a", "<s>"}, added: []addedToken{{id: 6, special: true}}}
		if err := d.readDecoder([]byte(decoder)); err != nil {
			t.Fatal(err)
		}
		if d.spell.bytes {
			for i := range d.tokens {
				d.tokens[i] = strings.ReplaceAll(d.tokens[i], "▁", "Ġ")
			}
		}
		c := &Codec{texts: newTokenTexts(&d)}
		for _, x := range []struct {
			prompt, out []int32
			want        string
		}{
			{[]int32{6, 0}, []int32{1, 2, 3}, " Hello world !"},
			{nil, []int32{1, 2, 3}, freshes[0]},
			{[]int32{6}, []int32{1, 2, 3}, freshes[0]},
			{nil, []int32{4, 5}, freshes[1]},
			{nil, []int32{6, 4, 5}, freshes[1]},
			{[]int32{0}, []int32{4, 5}, "  a"},
		} {
			s := NewSession(c)
			s.After(x.prompt)
			streamed := ""
			for _, id := range x.out {
				streamed += s.Push([]int32{id})
			}
			streamed += s.Finish()
			whole := strings.TrimPrefix(c.Decode(slices.Concat(x.prompt, x.out)), c.Decode(x.prompt))
			if streamed != x.want || streamed != whole {
				t.Errorf("%.40s: %v after %v: %q, whole %q, want %q", decoder, x.out, x.prompt, streamed, whole, x.want)
			}
		}
	}
}

// E6: added tokens are shown as they are, with nothing around them, unless they are
// special; a request's own stop id is not shown.
func TestReportSpacesAroundAddedTokens(t *testing.T) {
	file := smallFile(t)
	for _, change := range [][2]string{{"<tool>", "<think>"}, {"ADDED", "</think>"}, {"[MASK]", "<|x|>"}} { // the last is special
		file = strings.ReplaceAll(file, change[0], change[1])
	}
	c, err := fromTokenizerJSON([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	const think, unthink, special = 464, 465, 463
	ok, one := byteIDs(c, []byte("ok")), byteIDs(c, []byte("1"))
	out := append(append(append([]int32{think}, ok...), unthink, special), one...)
	for _, x := range []struct {
		codec *Codec
		want  string
	}{{c, "<think>ok</think>1"}, {c.Hiding([]int32{one[0]}), "<think>ok</think>"}} {
		s := NewSession(x.codec)
		if got := s.Push(out) + s.Finish(); got != x.want || x.codec.Decode(out) != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// G4: with end ids 2 and 7, the text of 5, 7 has nothing of 7.
func TestReportSeveralEndTokens(t *testing.T) {
	c := tokensCodec("0", "1", "2", "3", "4", "5", "6", "7", "8", "9").Hiding([]int32{2}).Hiding([]int32{7})
	s := newStops(t, c, "7", "2").NewSession(false)
	if got := s.Push([]int32{5, 7}) + s.Finish(); got != "5" || s.Stopped() != "" {
		t.Errorf("%q, stopped by %q", got, s.Stopped())
	}
}

// smallFile is the tokenizer.json of smallCodec "bpe_bytelevel_gpt2".
func smallFile(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/bpe_bytelevel_gpt2.tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
