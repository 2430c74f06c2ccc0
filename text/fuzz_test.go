package text

import (
	"os"
	"testing"
	"unicode/utf8"
)

// FuzzTokenizerJSON: whatever a file says, it is refused or encodes and decodes.
func FuzzTokenizerJSON(f *testing.F) {
	for _, name := range smallTokenizers {
		data, err := os.ReadFile("testdata/" + name + ".tokenizer.json")
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 20_000 {
			f.Add(data, "a b")
		}
	}
	for _, part := range []string{
		`"normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAA="}`,
		`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?i:a+)+$|[^\\P{L}]"},"behavior":"MergedWithNext","invert":true}`,
		`"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},"normalizer":{"type":"NFKD"}`,
	} {
		f.Add([]byte(`{"model":{"type":"Unigram","unk_id":0,"vocab":[["u",0],["a",-1],["<0x41>",-2]]},"decoder":{"type":"ByteFallback"},`+part+`}`), "aaaaaaab A")
	}
	f.Fuzz(func(t *testing.T, file []byte, s string) {
		c, err := fromTokenizerJSON(file)
		if err != nil {
			return
		}
		ids := c.Encode(s)
		for _, id := range ids {
			if id < 0 || int(id) >= c.VocabSize() {
				t.Errorf("id %d of %d", id, c.VocabSize())
			}
		}
		if !utf8.ValidString(c.Decode(ids)) {
			t.Errorf("%v is no text", ids)
		}
		checkSplit(t, c, ids, []int{1, 0, 2})
	})
}
