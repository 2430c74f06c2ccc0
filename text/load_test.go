package text

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/model"
)

func TestLoadWithoutTokenizer(t *testing.T) {
	if _, err := Load(&checkpoint.Checkpoint{}); !errors.Is(err, ErrNoTokenizer) {
		t.Errorf("%v, want ErrNoTokenizer", err)
	}
}

// change is a tokenizer.json of testdata with some text in it replaced.
func change(t *testing.T, old, new string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/bpe_llama3_split_nfc.tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s is not in the file", old)
	}
	return []byte(strings.Replace(string(data), old, new, 1))
}

// twentyfold is a normalizer and a decoder that lengthens a text.
const twentyfold = `{"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaaaaaaaaaaaa"}`

// longPattern is a normalizer whose pattern is as long as one may be.
var longPattern = `{"type":"Replace","pattern":{"Regex":"` + strings.Repeat("a", maxPattern) + `"},"content":""}`

// What is unknown, or has no measure, is refused by its name.
func TestUnknownPartsAreRefused(t *testing.T) {
	for _, c := range []struct{ old, new, name string }{
		{`"type":"BPE"`, `"type":"WordPiece"`, `"WordPiece"`},
		{`"type":"NFC"`, `"type":"Nmt"`, `"Nmt"`},
		{`"type":"Split"`, `"type":"UnicodeScripts"`, `"UnicodeScripts"`},
		{`\\p{N}{1,3}`, `\\X`, `escape "\\X"`},
		{`\\p{N}{1,3}`, `\\p{Cn}`, `class "Cn"`},
		{`\\p{N}{1,3}`, `[a[b]]`, `a class within a class`},
		{`\\p{N}{1,3}`, `(?x)a`, `group "(?x)a"`},
		{`\\p{N}{1,3}`, strings.Repeat("a", maxPattern), `bytes`},
		{`"behavior":"Isolated"`, `"behavior":"Sideways"`, `"Sideways"`},
		{`"type":"TemplateProcessing"`, `"type":"BertProcessing"`, `"BertProcessing"`},
		{`"single":[{"SpecialToken"`, `"single":[{"Sequence":{"id":"B","type_id":0}},{"SpecialToken"`, `unknown piece`},
		{`"decoder":{"type":"ByteLevel"`, `"decoder":{"type":"WordPiece"`, `"WordPiece"`},
		{`"dropout":null`, `"dropout":0.1`, `dropout`},
		{`"continuing_subword_prefix":null`, `"continuing_subword_prefix":"##"`, `##`},
		{`"end_of_word_suffix":null`, `"end_of_word_suffix":"</w>"`, `</w>`},
		{`"content":"ADDED"`, `"content":"` + strings.Repeat("a", maxAdded+1) + `"`, `added token`},
		{`"normalizer":`, `"normalizer":` + strings.Repeat(`{"type":"Sequence","normalizers":[`, 100) + strings.Repeat(`]}`, 100) + `,"truncation":`, `parts`},
		{`"use_regex":false}`, `"use_regex":false},{"type":"Digits","individual_digits":true}`, `after ByteLevel`},
		{`{"type":"NFC"}`, `{"type":"Sequence","normalizers":[` + twentyfold + `,` + twentyfold + `]}`, `normalizer makes a text`},
		{`{"type":"NFC"}`, `{"type":"Replace","pattern":{"Regex":"a*"},"content":"` + strings.Repeat("a", maxGrowth) + `"}`, `normalizer makes a text`},
		{`{"type":"NFC"}`, `{"type":"Prepend","prepend":"` + strings.Repeat("a", maxGrowth) + `"}`, `normalizer makes a text`},
		{`{"type":"NFC"}`, `{"type":"Precompiled","precompiled_charsmap":"AAAAAGFh` + strings.Repeat("YWFh", 100) + `"}`, `normalizer makes a text`},
		{`"decoder":{"type":"ByteLevel"`, `"decoder":{"type":"Sequence","decoders":[` + twentyfold + `,` + twentyfold + `]},"truncation":{"type":"ByteLevel"`, `decoder makes a text`},
		{`{"type":"NFC"}`, `{"type":"Sequence","normalizers":[` + strings.Repeat(longPattern+`,`, 2) + longPattern + `]}`, `patterns`},
		{`"ids":[462]`, `"ids":[462` + strings.Repeat(`,462`, maxAround) + `]`, `tokens around a text`},
	} {
		_, err := fromTokenizerJSON(change(t, c.old, c.new))
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s: error %v, want ErrUnsupported with %s", c.new, err, c.name)
		}
	}
}

// What is damaged is refused, before memory is taken for it.
func TestDamagedFilesAreRefused(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{`{`, ``},
		{`"version":"1.0"`, `"version":1`},
		{`"use_regex":false`, `"use_regexp":false`},
		{`"ignore_merges":true`, `"ignore_merges":true,"new_option":1`},
		{`"id":457`, `"id":2000000000`},
		{`"id":457`, `"id":-1`},
		{`"id":457`, `"id":4294967297`},
		{`"content":"ADDED"`, `"content":"!"`},
		{`"id":461`, `"id":5`},
		{`"vocab":{"!":0`, `"vocab":{"!":2000000000`},
		{`"vocab":{"!":0`, `"vocab":{"!":-7`},
		{`"vocab":{"!":0`, `"vocab":{"!":1`},
		{`"vocab":{"!":0`, `"vocab":{"!":0.5`},
		{`"merges":[[`, `"merges":[["x","y"],[`},
		{`"merges":[[`, `"merges":[["x"],[`},
		{`"merges":[[`, `"merges":["x",[`},
		{`"merges":[[`, `"merges":[null,[`},
		{`"unk_token":null`, `"unk_token":"<nothing>"`},
		{`"ids":[462]`, `"ids":[99999]`},
		{`"special_tokens":{"<s>"`, `"special_tokens":{"<t>"`},
	} {
		_, err := fromTokenizerJSON(change(t, c.old, c.new))
		if !errors.Is(err, ErrMalformed) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want ErrMalformed in one line", c.new, err)
		}
	}
	for _, data := range []string{"", "{}", "null", "[]", `{"model":null}`, `{"model":{"type":"BPE"}}`, "{}{}", string(change(t, "", "")) + "x", strings.Repeat("[", 1<<20)} {
		if _, err := fromTokenizerJSON([]byte(data)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.20s: error %v, want ErrMalformed", data, err)
		}
	}
}

func TestStartTokenFlagMustAgree(t *testing.T) {
	for _, add := range []bool{true, false} {
		_, err := Load(&checkpoint.Checkpoint{TokenizerJSON: change(t, "", ""), AddBOS: &add})
		if wrong := errors.Is(err, ErrMalformed); wrong == add {
			t.Errorf("add_bos_token %t where the tokenizer adds one: %v", add, err)
		}
	}
}

func TestTokensThatEndATextAreHidden(t *testing.T) {
	const tool = 459 + 1 // <tool>, not special
	c, err := Load(&checkpoint.Checkpoint{TokenizerJSON: change(t, "", ""), Config: &model.Config{EOS: []int32{tool, 1 << 30}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Decode(append(c.EncodeRaw("ok"), tool)); got != "ok" {
		t.Errorf("%q, want ok", got)
	}
}

// vocabOf is a tokenizer.json of testdata as a GGUF file would have it.
func vocabOf(t testing.TB, name, pre string) *checkpoint.Vocab {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Added []addedEntry `json:"added_tokens"`
		Model bpeModel     `json:"model"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	v := &checkpoint.Vocab{Model: "gpt2", Pre: pre, BOS: -1, EOS: -1, UNK: -1, Pad: -1}
	n := len(file.Model.Vocab) + len(file.Added)
	v.Tokens, v.Types = make([]string, n), slices.Repeat([]checkpoint.TokenType{checkpoint.TokenNormal}, n)
	for token, id := range file.Model.Vocab {
		v.Tokens[id] = token
	}
	for _, a := range file.Added {
		v.Tokens[a.ID], v.Types[a.ID] = a.Content, checkpoint.TokenUserDefined
		if a.Special {
			v.Types[a.ID] = checkpoint.TokenControl
		}
	}
	for _, m := range file.Model.Merges {
		v.Merges = append(v.Merges, m[0]+" "+m[1])
	}
	return v
}

// A GGUF vocabulary gives the ids of the tokenizer.json it was made from. It
// does not say which tokens strip white space or are single words, so texts with
// those are left out.
func TestVocabularyEncodesAsTheTokenizerDoes(t *testing.T) {
	for name, pre := range map[string]string{"bpe_bytelevel_gpt2": "gpt-2", "bpe_llama3_split_nfc": "llama-bpe"} {
		c, err := Load(&checkpoint.Checkpoint{Vocab: vocabOf(t, name, pre)})
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, l := range readGolden(t, name) {
			s := validUTF8(l.text(t))
			if strings.Contains(s, "[MASK]") || strings.Contains(s, "<tool>") || strings.Contains(s, "ADDED") || pre == "llama-bpe" && nfc(s) != s {
				continue
			}
			compared++
			if got := c.Encode(s); !slices.Equal(got, l.IDs) {
				t.Errorf("%s: %q: %v, want %v", pre, s, got, l.IDs)
			}
		}
		t.Logf("%s: %d compared", pre, compared)
		if compared < 500 {
			t.Errorf("%s: only %d texts compared", pre, compared)
		}
	}
}

// A GGUF file written out as a tokenizer.json keeps its ids.
func TestConvertedVocabularyEncodesAlike(t *testing.T) {
	for pre, name := range map[string]string{"gpt-2": "bpe_bytelevel_gpt2", "smollm": "bpe_bytelevel_gpt2", "llama-bpe": "bpe_llama3_split_nfc", "qwen2": "bpe_llama3_split_nfc",
		"starcoder": "bpe_bytelevel_gpt2", "dbrx": "bpe_llama3_split_nfc", "stablelm2": "bpe_bytelevel_gpt2", "qwen35": "bpe_bytelevel_gpt2", "falcon": "bpe_bytelevel_gpt2",
		"deepseek-coder": "bpe_bytelevel_gpt2", "deepseek-llm": "bpe_bytelevel_gpt2", "deepseek-v3": "bpe_bytelevel_gpt2", "gpt-4o": "bpe_bytelevel_gpt2",
		"tekken": "bpe_llama3_split_nfc", "bailingmoe": "bpe_bytelevel_gpt2", "seed-coder": "bpe_bytelevel_gpt2"} {
		v := vocabOf(t, name, pre)
		data, err := v.TokenizerJSON()
		if err != nil {
			t.Fatal(err)
		}
		before, err := Load(&checkpoint.Checkpoint{Vocab: v})
		if err != nil {
			t.Fatal(err)
		}
		after, err := Load(&checkpoint.Checkpoint{TokenizerJSON: data})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range readGolden(t, name) {
			s := l.text(t)
			if a, b := before.Encode(s), after.Encode(s); !slices.Equal(a, b) || before.Decode(a) != after.Decode(a) {
				t.Errorf("%s: %q: %v before, %v after", pre, s, a, b)
			}
		}
	}
}

func TestVocabularyAddsWhatTheFileWants(t *testing.T) {
	v := vocabOf(t, "bpe_bytelevel_gpt2", "gpt-2")
	v.BOS, v.EOS, v.AddBOS, v.AddEOS = 466, 467, true, true
	c, err := fromVocab(v)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Encode(""); !slices.Equal(got, []int32{466, 467}) {
		t.Errorf("%v", got)
	}
	if got := c.EncodeRaw("<s>"); !slices.Equal(got, []int32{466}) {
		t.Errorf("%v", got)
	}
}

func TestVocabulariesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		want   error
		change func(*checkpoint.Vocab)
	}{
		{`"bert"`, ErrUnsupported, func(v *checkpoint.Vocab) { v.Model = "bert" }},
		{`0 scores`, ErrMalformed, func(v *checkpoint.Vocab) { v.Model = "llama" }},
		{`"kimi-k2"`, ErrUnsupported, func(v *checkpoint.Vocab) { v.Pre = "kimi-k2" }},
		{`token types`, ErrMalformed, func(v *checkpoint.Vocab) { v.Types = v.Types[1:] }},
		{`not two tokens`, ErrMalformed, func(v *checkpoint.Vocab) { v.Merges[0] = "ab" }},
		{`not two tokens`, ErrMalformed, func(v *checkpoint.Vocab) { v.Merges[0] = "a b c" }},
		{`not in the vocabulary`, ErrMalformed, func(v *checkpoint.Vocab) { v.Merges[0] = "zq qz" }},
		{`start token`, ErrMalformed, func(v *checkpoint.Vocab) { v.AddBOS = true }},
		{`end token`, ErrMalformed, func(v *checkpoint.Vocab) { v.AddEOS, v.EOS = true, 1<<30 }},
	} {
		v := vocabOf(t, "bpe_bytelevel_gpt2", "gpt-2")
		c.change(v)
		if _, err := Load(&checkpoint.Checkpoint{Vocab: v}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("error %v, want %v with %s", err, c.want, c.name)
		}
	}
}

func TestCodecIsSafeForConcurrentUse(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	lines := readGolden(t, "bpe_bytelevel_gpt2")
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for _, l := range lines {
				if l.T != nil && !slices.Equal(c.Encode(*l.T), l.IDs) {
					t.Errorf("%q: wrong ids", *l.T)
				}
			}
		})
	}
	wait.Wait()
}
