package checkpoint

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// allocated is all memory that run takes, what it gives back included, with its error.
func allocated(run func() error) (uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// listed is n times a text in which %x is a number, between commas.
func listed(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// A header takes at most twice its bytes, and 1 MiB, whatever is many in it: what is taken is
// counted also where it is given back, so that it is never less than what is held.
func TestHeadersTakeTwiceTheirBytes(t *testing.T) {
	const many = 12_000
	type header struct {
		size int
		read func() error
	}
	inJSON := func(js string) header {
		file := safetensorsFile(js, uint64(len(js)), nil)
		return header{len(file), func() error {
			_, _, err := readHeader(bytes.NewReader(file), int64(len(file)), map[string]string{})
			return err
		}}
	}
	inGGUF := func(file []byte) header {
		return header{len(file), func() error {
			_, err := readGGUF(bytes.NewReader(file), int64(len(file)))
			return err
		}}
	}
	inArray := func(elem uint32, n int, rest string) []byte {
		return withKeys(ggufKey("k", ggufArray, le32(elem)+le64(uint64(n))+rest))
	}
	var keys, tensors []string
	for i := range many {
		keys = append(keys, ggufKey(fmt.Sprintf("%x", i), ggufUint8, "\x01"))
		tensors = append(tensors, ggufEntry(fmt.Sprintf("%x", i), 0, uint64(32*i), 1))
	}
	const plain = `"dtype":"F32","shape":[0],"data_offsets":[0,0]`
	shape := strings.TrimSuffix(strings.Repeat("0,", maxRank), ",")
	for name, test := range map[string]struct {
		header
		says string // of the error; "": none
	}{
		"tensors":             {inJSON("{" + listed(many, `"%x":{`+plain+"}") + "}"), ""},
		"dimensions":          {inJSON("{" + listed(many, `"%x":{"dtype":"F32","shape":[`+shape+`],"data_offsets":[0,0]}`) + "}"), ""},
		"unknown fields":      {inJSON(`{"a":{` + plain + "," + listed(many, `"%x":0`) + "}}"), ""},
		"values in fields":    {inJSON(`{"a":{"x":[` + strings.Repeat("0,", many) + `0],` + plain + "}}"), ""},
		"metadata":            {inJSON(`{"__metadata__":{` + listed(many, `"%x":""`) + "}}"), ""},
		"a number":            {inJSON(`{"a":{"x":` + strings.Repeat("1", 1<<20) + "," + plain + "}}"), ""},
		"a name":              {inJSON(`{"` + strings.Repeat("n", 1<<20) + `":{` + plain + "}}"), "name of more"},
		"GGUF keys":           {inGGUF(ggufBuilder{keys: keys}.bytes()), "keys"},
		"GGUF tensors":        {inGGUF(ggufBuilder{keys: []string{ggufArchKey}, tensors: tensors, data: make([]byte, 32*many)}.bytes()), "tensors"},
		"GGUF empty texts":    {inGGUF(inArray(ggufString, many, strings.Repeat(le64(0), many))), ""},
		"GGUF texts":          {inGGUF(inArray(ggufString, many, strings.Repeat(ggufText("abcdef"), many))), ""},
		"GGUF long texts":     {inGGUF(inArray(ggufString, 100, strings.Repeat(ggufText(strings.Repeat("x", 992)), 100))), ""},
		"GGUF numbers":        {inGGUF(inArray(ggufUint8, 1<<20, strings.Repeat("x", 1<<20))), ""},
		"GGUF text, a number": {inGGUF(withKeys(ggufStr("general.alignment", strings.Repeat("\x01", 1<<20)))), "general.alignment is"},
		"GGUF no characters":  {inGGUF(withKeys(ggufStr("general.alignment", strings.Repeat("\x80", 1<<20)))), "general.alignment is"},
		"GGUF empty arrays":   {inGGUF(inArray(ggufArray, many, strings.Repeat(le32(ggufUint8)+le64(0), many))), ""},
	} {
		took, err := allocated(test.read)
		if most := uint64(2*test.size + 1<<20); took > most {
			t.Errorf("%s: took %d bytes for %d", name, took, test.size)
		}
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want one that says %q", name, err, test.says)
		}
	}
}

// A folder of hostile files takes at most twice their bytes, and 2 MiB.
func TestFoldersTakeTwiceTheirBytes(t *testing.T) {
	const many = 12_000
	header := "{" + listed(many, `"%x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`) + "}"
	grown := strings.Replace(smallConfig, `"num_hidden_layers":1`, `"num_hidden_layers":4096`, 1)
	experts := strings.NewReplacer("LlamaForCausalLM", "MixtralForCausalLM", `"num_hidden_layers":1`, `"num_hidden_layers":16,"num_key_value_heads":1,"num_local_experts":4096`).Replace(smallConfig)
	for name, test := range map[string]struct {
		file, content string
		says          string
	}{
		"tensors":         {singleFile, string(safetensorsFile(header, uint64(len(header)), nil)), "tensors in a file"},
		"an index":        {indexFile, `{"weight_map":{` + listed(many, `"%x":"a.safetensors"`) + "}}", "name more than"},
		"files":           {indexFile, `{"weight_map":{` + listed(many, `"%x":"%[1]x"`) + "}}", "name more than"},
		"beside an index": {indexFile, `{` + listed(many, `"%x":0`) + "}", "missing"},
		"fields":          {"config.json", "{" + listed(many, `"%x":0`) + "}", "fields"},
		"inner fields":    {"config.json", `{"model_type":"gemma3","text_config":{` + listed(many, `"%x":0`) + "}}", "text_config"},
		"layers":          {"config.json", grown, "4096 tensors or more"},
		"experts":         {"config.json", experts, "tensors or more"},
		"templates":       {"tokenizer_config.json", `{"chat_template":[` + strings.TrimSuffix(strings.Repeat("{},", many), ",") + "]}", ""},
		"a vocabulary":    {"tokenizer.json", `{"model":{"vocab":{` + listed(many, `"%x":0`) + "}}}", ""},
	} {
		files := folder(t, map[string]*fstest.MapFile{"tokenizer_config.json": file(`{"eos_token":"none"}`), test.file: file(test.content)})
		if test.file == indexFile {
			delete(files, singleFile)
		}
		took, err := allocated(func() error {
			_, err := openFolder(files)
			return err
		})
		if most := uint64(2*len(test.content) + 2<<20); took > most {
			t.Errorf("%s: took %d bytes for %d", name, took, len(test.content))
		}
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want one that says %q", name, err, test.says)
		}
	}
}

// What a header claims to have, and has not, costs nothing, also where nobody knows how much
// will come.
func TestClaimsCostNothing(t *testing.T) {
	for name, head := range map[string]string{"zeros": "", "an open object": "{", "an open text": `{"`, "an open list": `{"a":{"shape":[`} {
		file := sparse{head: safetensorsFile(head, maxSafetensorsHeader, nil), size: maxSafetensorsHeader + 8}
		took, err := allocated(func() error {
			_, _, err := readHeader(io.NewSectionReader(file, 0, math.MaxInt64), -1, nil)
			return err
		})
		if err == nil || took > 1<<20 {
			t.Errorf("%s: took %d bytes, error %v", name, took, err)
		}
	}
}
