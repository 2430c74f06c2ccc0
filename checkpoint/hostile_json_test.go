package checkpoint

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cbactor/cbactor/model"
)

// Each hostile file of a folder is an error that names it, or is taken for what it says, and
// takes at most twice its bytes and 2 MiB.
func TestHostileFolderFiles(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	const generation, tokenizer, words = "generation_config.json", "tokenizer_config.json", "tokenizer.json"
	for name, test := range map[string]struct{ file, content, says string }{
		"zeros for generation":    {generation, strings.Repeat("\x00", 1<<20), generation},
		"a list for generation":   {generation, "[]", generation},
		"deep":                    {generation, `{"x":` + nested(100_000) + "}", generation},
		"NaN":                     {generation, `{"temperature":NaN}`, generation},
		"beyond a float":          {generation, `{"temperature":1e400}`, generation},
		"a text for a number":     {generation, `{"top_k":"5"}`, generation},
		"a float for a number":    {generation, `{"top_k":5.5}`, generation},
		"a number for a bool":     {generation, `{"do_sample":1}`, generation},
		"words that are none":     {generation, `{"bad_words_ids":[[-1e9]]}`, generation},
		"a huge end token":        {generation, `{"eos_token_id":99999999999}`, generation},
		"an end token outside":    {generation, `{"eos_token_id":[3,99]}`, "end token 99"},
		"too many end tokens":     {generation, `{"eos_token_id":[` + strings.TrimSuffix(strings.Repeat("0,", 2000), ",") + "]}", generation},
		"many fields":             {generation, "{" + listed(100_000, `"%x":0`) + "}", "fields"},
		"some end tokens":         {generation, `{"eos_token_id":[` + strings.Repeat("0,", 50_000) + "0]}", "values"},
		"many words":              {generation, `{"bad_words_ids":[` + strings.Repeat("[],", 400_000) + "[]]}", "bytes"},
		"some words":              {generation, `{"bad_words_ids":[` + strings.Repeat("[],", 40_000) + "[]]}", "values"},
		"a long list of others":   {generation, `{"sequence_bias":[` + strings.Repeat("[],", 400_000) + "[]]}", ""},
		"a number of digits":      {generation, `{"top_k":` + strings.Repeat("1", 1<<16) + "}", "top_k"},
		"nothing for generation":  {generation, "", generation},
		"null for generation":     {generation, "null", ""},
		"an end token of none":    {generation, `{"eos_token_id":[-1]}`, ""},
		"zeros for an index":      {indexFile, strings.Repeat("\x00", 1<<20), indexFile},
		"a list for an index":     {indexFile, "[]", indexFile},
		"a deep index":            {indexFile, `{"metadata":` + nested(100_000) + "}", indexFile},
		"a number for a file":     {indexFile, `{"weight_map":{"a":1}}`, indexFile},
		"a tensor twice":          {indexFile, `{"weight_map":{"a":"x.safetensors","a":"x.safetensors"}}`, "twice"},
		"two maps":                {indexFile, `{"weight_map":{},"weight_map":{}}`, "twice"},
		"a cut index":             {indexFile, `{"weight_map":{"a":"x.safetensors"`, indexFile},
		"junk behind":             {indexFile, `{"weight_map":{}} x`, indexFile},
		"outside":                 {indexFile, `{"weight_map":{"a":"..\/..\/secret"}}`, "outside"},
		"NUL in a file":           {indexFile, `{"weight_map":{"a":"x\u0000.safetensors"}}`, "no name of a file"},
		"half a character":        {indexFile, `{"weight_map":{"a":"\ud800"}}`, indexFile},
		"a number for a template": {tokenizer, `{"chat_template":5}`, tokenizer},
		"numbers for templates":   {tokenizer, `{"chat_template":[5]}`, tokenizer},
		"a number for a token":    {tokenizer, `{"eos_token":5}`, tokenizer},
		"deep tokens":             {tokenizer, `{"x":` + nested(100_000) + "}", tokenizer},
		"a deep tokenizer":        {words, `{"x":` + nested(100_000) + "}", words},
		"a text for an id":        {words, `{"added_tokens":[{"id":"1","content":"none"}]}`, words},
		"a negative id":           {words, `{"model":{"vocab":{"none":-5}}}`, words},
		"a huge id":               {words, `{"model":{"vocab":{"none":4294967296}}}`, "end token"},
		"zeros for a tokenizer":   {words, strings.Repeat("\x00", 1<<20), words},
	} {
		files := folder(t, map[string]*fstest.MapFile{tokenizer: file(`{"eos_token":"none"}`), test.file: file(test.content)})
		if test.file == indexFile {
			delete(files, singleFile)
		}
		took, err := allocated(func() error {
			_, err := openFolder(files)
			return err
		})
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %.300v, want one that says %q", name, err, test.says)
		}
		if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNotFound) && !errors.Is(err, model.ErrConfig) {
			t.Errorf("%s: %v is of no class", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000) {
			t.Errorf("%s: the error has %d bytes, or more than one line", name, len(err.Error()))
		}
		if most := uint64(2*len(test.content) + 2<<20); took > most {
			t.Errorf("%s: took %d bytes for %d", name, took, len(test.content))
		}
	}
}
