package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cbactor/cbactor/model"
)

// smallConfig is the configuration of a model of one layer.
const smallConfig = `{"architectures":["LlamaForCausalLM"],"vocab_size":8,"hidden_size":4,"intermediate_size":4,"num_hidden_layers":1,
	"num_attention_heads":2,"tie_word_embeddings":true,"eos_token_id":2}`

// smallShard is a safetensors file with the given tensors of the small model, all zero.
func smallShard(t testing.TB, keep func(name string) bool) []byte {
	t.Helper()
	c, err := model.ParseConfig([]byte(smallConfig))
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	at := 0
	for _, tensor := range c.Tensors() {
		if !keep(tensor.Name) {
			continue
		}
		shape, err := json.Marshal(tensor.Shape)
		if err != nil {
			t.Fatal(err)
		}
		end := at + 4*tensor.Elements()
		entries = append(entries, entry(tensor.Name, "F32", string(shape), at, end))
		at = end
	}
	header := "{" + strings.Join(entries, ",") + "}"
	return safetensorsFile(header, uint64(len(header)), make([]byte, at))
}

func everything(string) bool        { return true }
func inLayer(name string) bool      { return strings.Contains(name, "layers") }
func outOfLayer(n string) bool      { return !inLayer(n) }
func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// folder is the small model as a folder, changed by what a test gives: nil removes.
func folder(t *testing.T, changes map[string]*fstest.MapFile) fstest.MapFS {
	t.Helper()
	f := fstest.MapFS{"config.json": file(smallConfig), singleFile: {Data: smallShard(t, everything)}}
	for name, change := range changes {
		if change == nil {
			delete(f, name)
		} else {
			f[name] = change
		}
	}
	return f
}

func TestEndTokensAreUnited(t *testing.T) {
	c, err := openFolder(folder(t, map[string]*fstest.MapFile{
		"generation_config.json": file(`{"eos_token_id":[2,7],"top_k":40,"temperature":0.5}`),
		"tokenizer_config.json":  file(`{"eos_token":{"content":"<end>"},"bos_token":"<s>","add_bos_token":true,"chat_template":"T"}`),
		"tokenizer.json":         file(`{"added_tokens":[{"id":5,"content":"<end>"}],"model":{"vocab":{"a":0}}}`),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Config.EOS, []int32{2, 7, 5}) {
		t.Errorf("end tokens %v", c.Config.EOS)
	}
	if *c.Generation.TopK != 40 || *c.Generation.Temperature != 0.5 || c.Generation.DoSample != nil {
		t.Errorf("%+v", c.Generation)
	}
	if c.BOSToken != "<s>" || c.EOSToken != "<end>" || c.AddBOS == nil || !*c.AddBOS || c.ChatTemplate != "T" {
		t.Errorf("%+v", c)
	}
}

// What the family has where config.json is silent counts unless generation_config.json says
// what does.
func TestAssumedEndTokens(t *testing.T) {
	silent := file(strings.Replace(smallConfig, `"eos_token_id":2`, `"eos_token":2`, 1))
	for _, test := range []struct {
		generation string
		want       []int32
	}{{`{}`, []int32{2, 5}}, {`{"eos_token_id":null}`, []int32{2, 5}}, {`{"eos_token_id":[7,3]}`, []int32{7, 3, 5}}} {
		c, err := openFolder(folder(t, map[string]*fstest.MapFile{
			"config.json":            silent,
			"generation_config.json": file(test.generation),
			"tokenizer_config.json":  file(`{"eos_token":"<end>"}`),
			"tokenizer.json":         file(`{"added_tokens":[{"id":5,"content":"<end>"}]}`),
		}))
		if err != nil || !reflect.DeepEqual(c.Config.EOS, test.want) {
			t.Errorf("%s: end tokens %v, want %v, error %v", test.generation, c.Config.EOS, test.want, err)
		}
	}
}

func TestChatTemplateSources(t *testing.T) {
	for name, test := range map[string]struct{ config, jinja, want string }{
		"none":        {`{}`, "", ""},
		"null":        {`{"chat_template":null}`, "", ""},
		"text":        {`{"chat_template":"A"}`, "", "A"},
		"named":       {`{"chat_template":[{"name":"rag","template":"A"},{"name":"default","template":"B"}]}`, "", "B"},
		"file before": {`{"chat_template":"A"}`, "C", "C"},
	} {
		changes := map[string]*fstest.MapFile{"tokenizer_config.json": file(test.config)}
		if test.jinja != "" {
			changes["chat_template.jinja"] = file(test.jinja)
		}
		c, err := openFolder(folder(t, changes))
		if err != nil || c.ChatTemplate != test.want {
			t.Errorf("%s: got %q, want %q, error %v", name, c.ChatTemplate, test.want, err)
		}
	}
}

func TestLookUpToken(t *testing.T) {
	for _, test := range []struct {
		js   string
		want int32
	}{
		{`{"added_tokens":[{"id":3,"content":"</s>"}],"model":{"vocab":{"</s>":1}}}`, 3},
		{`{"added_tokens":[],"model":{"vocab":{"a":0,"</s>":1}}}`, 1},
		{`{"model":{"vocab":[["</s>",0.0]]}}`, -1},
		{`{"model":{"vocab":{"a":0}}}`, -1},
	} {
		if got, err := lookUpToken([]byte(test.js), "</s>"); err != nil || got != test.want {
			t.Errorf("%s: got %d, want %d, error %v", test.js, got, test.want, err)
		}
	}
}

func index(entries map[string]string) *fstest.MapFile {
	js, err := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": 1}, "weight_map": entries})
	if err != nil {
		panic(err) // a map of texts
	}
	return &fstest.MapFile{Data: js}
}

func TestShards(t *testing.T) {
	c, err := model.ParseConfig([]byte(smallConfig))
	if err != nil {
		t.Fatal(err)
	}
	placed := func(change func(m map[string]string)) *fstest.MapFile {
		m := map[string]string{}
		for _, tensor := range c.Tensors() {
			m[tensor.Name] = map[bool]string{true: "layers.safetensors", false: "rest.safetensors"}[inLayer(tensor.Name)]
		}
		change(m)
		return index(m)
	}
	nothing := func(map[string]string) {}
	layers, rest := &fstest.MapFile{Data: smallShard(t, inLayer)}, &fstest.MapFile{Data: smallShard(t, outOfLayer)}
	const norm = "model.norm.weight"
	for name, test := range map[string]struct {
		files map[string]*fstest.MapFile
		kind  error
		says  string
	}{
		"good":            {map[string]*fstest.MapFile{indexFile: placed(nothing), "layers.safetensors": layers, "rest.safetensors": rest}, nil, ""},
		"stray files":     {map[string]*fstest.MapFile{indexFile: placed(nothing), "layers.safetensors": layers, "rest.safetensors": rest, "consolidated.safetensors": file("junk"), "backup.safetensors": rest}, nil, ""},
		"one file first":  {map[string]*fstest.MapFile{indexFile: index(map[string]string{"x": "missing.safetensors"}), singleFile: {Data: smallShard(t, everything)}}, nil, ""},
		"one that is bad": {map[string]*fstest.MapFile{indexFile: placed(nothing), "layers.safetensors": layers, "rest.safetensors": rest, singleFile: file("junk")}, ErrFormat, singleFile},
		"missing shard":   {map[string]*fstest.MapFile{indexFile: placed(nothing), "layers.safetensors": layers}, ErrNotFound, "rest.safetensors"},
		"in two shards":   {map[string]*fstest.MapFile{indexFile: placed(nothing), "layers.safetensors": layers, "rest.safetensors": {Data: smallShard(t, everything)}}, ErrFormat, "layers"},
		"other shard":     {map[string]*fstest.MapFile{indexFile: placed(func(m map[string]string) { m[norm] = "layers.safetensors" }), "layers.safetensors": layers, "rest.safetensors": rest}, ErrFormat, norm},
		"promised":        {map[string]*fstest.MapFile{indexFile: placed(func(m map[string]string) { m["extra"] = "rest.safetensors" }), "layers.safetensors": layers, "rest.safetensors": rest}, ErrFormat, "extra"},
		"outside":         {map[string]*fstest.MapFile{indexFile: placed(func(m map[string]string) { m[norm] = "../rest.safetensors" }), "layers.safetensors": layers, "rest.safetensors": rest}, ErrFormat, "outside"},
		"absolute":        {map[string]*fstest.MapFile{indexFile: placed(func(m map[string]string) { m[norm] = "/rest.safetensors" }), "layers.safetensors": layers, "rest.safetensors": rest}, ErrFormat, "outside"},
		"the folder":      {map[string]*fstest.MapFile{indexFile: placed(func(m map[string]string) { m[norm] = "." }), "layers.safetensors": layers, "rest.safetensors": rest}, ErrFormat, "outside"},
		"truncated shard": {map[string]*fstest.MapFile{indexFile: placed(nothing), "layers.safetensors": {Data: layers.Data[:len(layers.Data)-1]}, "rest.safetensors": rest}, ErrFormat, "layers.safetensors"},
		"damaged index":   {map[string]*fstest.MapFile{indexFile: file(`{"weight_map":3}`)}, ErrFormat, indexFile},
	} {
		if _, ok := test.files[singleFile]; !ok {
			test.files[singleFile] = nil
		}
		opened, err := openFolder(folder(t, test.files))
		stream := &Stream{}
		if streamErr := stream.openFolder(folder(t, test.files)); !errors.Is(streamErr, test.kind) || (streamErr == nil) != (err == nil) {
			t.Errorf("%s: as a stream: %v", name, streamErr)
		}
		if test.kind == nil {
			if err != nil || len(opened.tensors) != len(c.Tensors()) || len(stream.Tensors()) != len(c.Tensors()) {
				t.Errorf("%s: %v", name, err)
			}
			sent := 0
			err := stream.Send(func(_, _ string, _ []int, _ int, data []byte) error {
				sent += len(data)
				return nil
			})
			if want := weightBytes(c); err != nil || sent != want {
				t.Errorf("%s: sent %d bytes of %d, %v", name, sent, want, err)
			}
			continue
		}
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %v that names %s", name, err, test.kind, test.says)
		}
	}
}

// weightBytes is the size of all tensors in float32.
func weightBytes(c *model.Config) int {
	n := 0
	for _, tensor := range c.Tensors() {
		n += 4 * tensor.Elements()
	}
	return n
}

// manyShards are so many files of as many empty tensors as one may have, with their index, in
// place of the single file.
func manyShards(files, tensors int) map[string]*fstest.MapFile {
	changes, placed := map[string]*fstest.MapFile{singleFile: nil}, map[string]string{}
	for f := range files {
		var entries []string
		name := fmt.Sprintf("%d.safetensors", f)
		for n := range tensors {
			tensor := fmt.Sprintf("%d.%080d", f, n) // of an index that has room for so many
			entries, placed[tensor] = append(entries, entry(tensor, "F32", "[0]", 0, 0)), name
		}
		header := "{" + strings.Join(entries, ",") + "}"
		changes[name] = &fstest.MapFile{Data: safetensorsFile(header, uint64(len(header)), nil)}
	}
	changes[indexFile] = index(placed)
	return changes
}

// unreadable is a folder in which a file cannot be looked at.
type unreadable struct {
	fstest.MapFS
	file string
}

func (u unreadable) Stat(name string) (fs.FileInfo, error) {
	if name == u.file {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.Stat(name)
}

// A single file that cannot be looked at is not passed over for an index.
func TestUnreadableFile(t *testing.T) {
	files := unreadable{folder(t, map[string]*fstest.MapFile{indexFile: index(map[string]string{"x": "x.safetensors"})}), singleFile}
	if _, err := openFolder(files); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), singleFile) {
		t.Errorf("got %v", err)
	}
}

func TestFolderRefuses(t *testing.T) {
	mixtral := strings.NewReplacer("LlamaForCausalLM", "MixtralForCausalLM", `"num_hidden_layers":1`, `"num_hidden_layers":1,"num_key_value_heads":1`).Replace(smallConfig)
	many := manyShards(2, 1024)
	for name, test := range map[string]struct {
		files map[string]*fstest.MapFile
		kind  error
		says  string
	}{
		"no weights":           {map[string]*fstest.MapFile{singleFile: nil}, ErrNotFound, singleFile},
		"damaged config":       {map[string]*fstest.MapFile{"config.json": file("{")}, model.ErrConfig, "config.json"},
		"unknown architecture": {map[string]*fstest.MapFile{"config.json": file(`{"architectures":["Mamba"]}`)}, model.ErrUnsupported, "Mamba"},
		"damaged generation":   {map[string]*fstest.MapFile{"generation_config.json": file(`{"eos_token_id":"x"}`)}, ErrFormat, "generation_config.json"},
		"end token too large":  {map[string]*fstest.MapFile{"generation_config.json": file(`{"eos_token_id":8}`)}, model.ErrConfig, "end token 8"},
		"damaged tokenizer":    {map[string]*fstest.MapFile{"tokenizer.json": file("["), "tokenizer_config.json": file(`{"eos_token":"x"}`)}, ErrFormat, "tokenizer.json"},
		"config is a folder":   {map[string]*fstest.MapFile{"config.json": {Mode: os.ModeDir}}, ErrFormat, "config.json"},
		"layers":               {map[string]*fstest.MapFile{"config.json": file(strings.Replace(smallConfig, `"num_hidden_layers":1`, `"num_hidden_layers":20`, 1))}, model.ErrMissing, "model.layers.1.self_attn.o_proj.weight"},
		"experts":              {map[string]*fstest.MapFile{"config.json": file(mixtral)}, model.ErrMissing, "model.layers.0.block_sparse_moe.experts.0.w1.weight"},
		"layers, class":        {map[string]*fstest.MapFile{"config.json": file(strings.Replace(smallConfig, `"num_hidden_layers":1`, `"num_hidden_layers":20`, 1))}, ErrFormat, "20 tensors or more"},
		"many tensors":         {many, ErrFormat, "2048 tensors in"},
		"huge config":          {map[string]*fstest.MapFile{"config.json": file(strings.Repeat(" ", maxConfigFile+1))}, ErrFormat, "config.json"},
	} {
		_, err := openFolder(folder(t, test.files))
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %v that names %s", name, err, test.kind, test.says)
		}
	}
}
