package text

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/internal/fuzztest"
)

// tinyModels are models of a tokenizer.json of every kind, with the decoders that fit.
var tinyModels = []string{
	`"model":{"type":"BPE","unk_token":"<unk>","ignore_merges":true,"vocab":{"a":0,"b":1,"ab":2,"Ġ":3,"<unk>":4,"Ã":5,"©":6},"merges":[["a","b"]]},"decoder":{"type":"ByteLevel"}`,
	`"model":{"byte_fallback":true,"fuse_unk":true,"unk_token":"<unk>","vocab":{"<unk>":0,"▁":1,"a":2,"▁a":3,"<0x41>":4},"merges":["▁ a"]},` +
		`"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}`,
	`"model":{"type":"Unigram","unk_id":0,"vocab":[["u",0],["a",-1],["<0x41>",-2],["▁",-3],["é",-4.5]]},"decoder":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"}`,
	`"model":{"type":"Unigram","byte_fallback":true,"unk_id":0,"vocab":[["u",0],["a",-1],["<0x41>",-2]]},"decoder":{"type":"ByteFallback"}`,
}

// tinyTokenizers are a tokenizer.json of each model and of each component.
func tinyTokenizers(t testing.TB) []string {
	parts := []string{
		`"normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAA="}`,
		`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?i:a+)+$|[^\\P{L}]"},"behavior":"MergedWithNext","invert":true}`,
		`"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},"normalizer":{"type":"NFKD"}`,
		`"added_tokens":[{"id":1,"content":"a","lstrip":true,"rstrip":true,"single_word":true,"normalized":true},{"id":9,"content":"<s>","special":true}],` +
			`"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[9],"tokens":["<s>"]}}}`,
	}
	for _, part := range []string{twentyfold, `{"type":"Strip","content":" ","start":9223372036854775807,"stop":9223372036854775807}`} {
		parts = append(parts, `"normalizer":`+part, `"decoder":`+part)
	}
	var variants []struct{ Changes [][2]string }
	if err := json.NewDecoder(openGzip(t, "testdata/variants.golden.json.gz")).Decode(&variants); err != nil {
		t.Fatal(err)
	}
	for _, v := range variants {
		for _, change := range v.Changes {
			if part := change[1]; json.Valid([]byte("{"+part+"}")) && strings.Contains(part, `"type"`) {
				parts = append(parts, part)
			}
		}
	}
	var files []string
	for i, part := range parts {
		files = append(files, "{"+tinyModels[i%len(tinyModels)]+","+part+"}")
	}
	return files
}

// FuzzTokenizerJSON: whatever a file says, it is refused in one line, or encodes and
// decodes: texts, and its own end.
func FuzzTokenizerJSON(f *testing.F) {
	for _, name := range smallTokenizers {
		data, err := os.ReadFile("testdata/" + name + ".tokenizer.json")
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 10_000 {
			f.Add(data)
		}
	}
	for _, file := range tinyTokenizers(f) {
		f.Add([]byte(file))
	}
	fuzztest.Fuzz(f, 8<<20, func(t *testing.T, file []byte) {
		c, err := fromTokenizerJSON(file)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkCodec(t, c, string(file[max(len(file)-64, 0):]))
	})
}

// FuzzVocab is FuzzTokenizerJSON for the vocabularies of GGUF files, here as JSON.
func FuzzVocab(f *testing.F) {
	for _, pre := range []string{"gpt-2", "starcoder", "llama-bpe", "qwen2", "falcon", "none"} { // others take long to compile
		f.Add([]byte(`{"Model":"gpt2","Pre":"` + pre + `","Tokens":["a","b","ab","Ġ","<s>","<t>"],"Types":[1,1,1,1,3,4],"Merges":["a b"],"AddBOS":true,"BOS":4,"EOS":-1}`))
	}
	for _, model := range []string{"llama", "gemma4"} {
		f.Add([]byte(`{"Model":"` + model + `","Tokens":["<unk>","a","▁","▁a","<0x41>","\n\n"],"Types":[2,1,1,1,6,1],"Scores":[0,-1,-2,-3.5,0,1],"Merges":["▁ a"],"AddSpacePrefix":true,"UNK":-1}`))
	}
	fuzztest.Fuzz(f, 8<<20, func(t *testing.T, js []byte) {
		var v checkpoint.Vocab
		if json.Unmarshal(js, &v) != nil || max(v.BOS, v.EOS, v.UNK) >= int32(len(v.Tokens)) || min(v.BOS, v.EOS, v.UNK) < -1 {
			return // what package checkpoint does not give
		}
		c, err := fromVocab(&v)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		checkCodec(t, c, v.Pre)
	})
}

// checkRefusal checks that an error is of a kind and one line.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	if strings.ContainsAny(err.Error(), "\n\r") || !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) {
		t.Errorf("the error is of no kind, or has more than one line: %q", err)
	}
}

// checkCodec checks that texts, and another one, become tokens and those text.
func checkCodec(t *testing.T, c *Codec, another string) {
	t.Helper()
	for _, s := range []string{"", "aaaaaaab A", " é\u2581中\xff 12", another} {
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
	}
}
