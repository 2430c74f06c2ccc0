package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Words that are cut at seams have the ids that they have uncut.
func TestSeamsChangeNoIDs(t *testing.T) {
	const small = `{"decoder":{"type":"Fuse"},"model":{"type":"BPE","unk_token":UNK,"byte_fallback":false,"vocab":{"a":0,"b":1,"▁":2,"a▁":3,"u":4,"u▁":5,"é":6,"é▁":7},"merges":[["a","▁"],["u","▁"],["é","▁"]]}}`
	codecs := map[string]*Codec{}
	steps := map[string]int{} // before words are cut at seams
	for _, name := range []string{"bpe_bytefallback_prepend", "bpe_bytefallback_metaspace"} {
		codecs[name] = smallCodec(t, name)
		steps[name] = len(codecs[name].pre) - 1
	}
	for name, unk := range map[string]string{"unknown characters are dropped": `null`, "unknown characters are u": `"u"`, "unknown characters are é": `"é"`, "unknown characters are b": `"b"`} {
		c, err := fromTokenizerJSON([]byte(strings.Replace(small, "UNK", unk, 1)))
		if err != nil {
			t.Fatal(err)
		}
		codecs[name] = c
	}
	if got := codecs["unknown characters are dropped"].EncodeRaw("a~▁b"); !slices.Equal(got, []int32{3, 1}) {
		t.Errorf("%v, and a and ▁ are merged over what is dropped", got)
	}
	for name, c := range codecs {
		whole := *c
		whole.pre = c.pre[:steps[name]]
		whole.model = &cached{model: c.model.model}
		text := rapid.StringOf(rapid.SampledFrom([]rune("the quick brown fox. don't, Worlds 123 éu中世界▁▁  \n~|<0x>\x00😀")))
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			s := text.Draw(t, "text")
			if got, want := c.EncodeRaw(s), whole.EncodeRaw(s); !slices.Equal(got, want) {
				t.Fatalf("%q: %v, want %v", s, got, want)
			}
		}))
	}
}

// Characters that meet in a merge, or in a token that is taken whole, stay together; so do
// those whose tokens may be.
func TestSeams(t *testing.T) {
	vocab := map[string]int32{"a": 0, "b": 1, "c": 2, "▁": 3, "ab": 4, "é": 5, "\n": 6}
	merged := []mergePair{{"a", "b"}, {"é", "▁"}}
	for text, want := range map[string][]string{
		"abab":     {"ab", "ab"},
		"ba":       {"b", "a"},
		"a~b":      {"a~b"}, // ~ is unknown, and one with unknown neighbours
		"~▁a":      {"~", "▁", "a"},
		"é▁é中▁":    {"é▁é中", "▁"},
		"c\n\nc▁▁": {"c", "\n\n", "c", "▁", "▁"},
	} {
		m := newSeams(&definition{merges: merged, whole: map[string]int32{"\n\n": 7}}, vocab)
		var got []string
		for s := text; s != ""; {
			n := m.next(s)
			got, s = append(got, s[:n]), s[n:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	bytes := newSeams(&definition{merges: append(merged, mergePair{"<0xE4>", "▁"})}, vocab)
	for _, s := range []string{"~▁", "中▁"} {
		if n := bytes.next(s); n != len(s) {
			t.Errorf("%q is cut, and its byte may be merged with the mark", s)
		}
	}
}
