package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cbactor/cbactor/internal/fuzztest"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// fuzzBase is what a checkpoint may take beside twice its file: buffers for reading, and
// what a small configuration can ask for.
const fuzzBase = 4 << 20

// FuzzSafetensors: a file is refused, or its tensors lie within it and are read.
func FuzzSafetensors(f *testing.F) {
	for _, file := range hostileSafetensors() {
		if len(file) < 1000 {
			f.Add(file)
		}
	}
	for _, header := range []string{
		"{" + entry("w_blocks", "U8", "[1,16]", 0, 16) + "," + entry("w_scales", "U8", "[1]", 16, 17) + "," +
			entry("x", "F8_E4M3", "[1,128]", 17, 145) + "," + entry("x_scale_inv", "F32", "[1,1]", 145, 149) + "}",
		`{"__metadata__":{"format":"pt"},` + entry("a", "BF16", "[2,3]", 0, 12) + "," + entry("b", "F16", "[]", 12, 14) + "," +
			entry("c", "F4", "[0,5]", 14, 14) + "," + entry("d", "I64", "[1]", 14, 22) + "}  ",
		`{"a":{"x":[{"y":null}],"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`,
	} {
		f.Add(safetensorsFile(header, uint64(len(header)), make([]byte, 149)))
	}
	fuzztest.Fuzz(f, fuzzBase, func(t *testing.T, file []byte) {
		tensors, err := readSafetensors(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			oneLine(t, err)
			return
		}
		for _, s := range tensors {
			if end := s.offset + int64(s.Bytes()); s.offset < 8 || end > int64(len(file)) {
				t.Errorf("%q lies at %d to %d in a file of %d", s.Name, s.offset, end, len(file))
			}
		}
		if c, err := pairs(t, file); err == nil {
			readSome(t, c)
		}
	})
}

// FuzzGGUF: the header of a file, behind which are zeros, is refused or makes a model.
func FuzzGGUF(f *testing.F) {
	for _, file := range seedGGUF(f) {
		f.Add(file)
	}
	fuzztest.Fuzz(f, fuzzBase, func(t *testing.T, head []byte) {
		file := sparse{head: head, size: int64(len(head)) + 256<<10}
		parsed, err := readGGUF(file, file.size)
		if err != nil {
			oneLine(t, err)
			return
		}
		for _, s := range parsed.tensors {
			if s.offset+s.size > uint64(file.size) {
				t.Errorf("%q lies at %d, %d bytes, in a file of %d", s.name, s.offset, s.size, file.size)
			}
		}
		c, err := openGGUF(file, file.size)
		if err != nil {
			oneLine(t, err)
			return
		}
		readSome(t, c)
		if c.Vocab == nil {
			return
		}
		if _, err := c.Vocab.TokenizerJSON(); err != nil {
			oneLine(t, err)
		}
	})
}

// seedGGUF are headers: wrong ones, and those of models of every architecture, with every
// type of tensors and kind of vocabulary.
func seedGGUF(f *testing.F) [][]byte {
	files := [][]byte{goodGGUF()}
	for _, file := range hostileGGUF() {
		if len(file) < 10000 {
			files = append(files, file)
		}
	}
	fixtures, err := filepath.Glob("testdata/gguf/*.gguf")
	if err != nil || len(fixtures) == 0 {
		f.Fatalf("found %v, error %v", fixtures, err)
	}
	for _, path := range fixtures {
		file, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		parsed, err := readGGUF(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, file[:parsed.tensors[0].offset])
	}
	var types []string
	at := uint64(0)
	for n, kind := range ggufTypes {
		types = append(types, ggufEntry(kind.name, n, at, kind.block))
		at += (kind.bytes + defaultAlignment - 1) / defaultAlignment * defaultAlignment
	}
	files = append(files, withTensors(types...)[:len(withTensors(types...))-4096])
	for _, kind := range []string{"gpt2", "llama", "gemma4", "t5", "bert"} {
		files = append(files, vocabGGUF(kind))
	}
	return files
}

// vocabGGUF is a model's header with a vocabulary of a kind.
func vocabGGUF(kind string) []byte {
	list := func(elem uint32, values ...string) string {
		return le32(elem) + le64(uint64(len(values))) + strings.Join(values, "")
	}
	m := newGGUFModel()
	m.keys = append(m.keys, ggufStr(ggufTokens+"model", kind), ggufStr(ggufTokens+"pre", "llama-bpe"),
		ggufKey(ggufTokens+"tokens", ggufArray, list(ggufString, ggufText("<s>"), ggufText("a"), ggufText("aa"), ggufText("<0x41>"))),
		ggufKey(ggufTokens+"token_type", ggufArray, list(ggufInt32, le32(3), le32(1), le32(1), le32(6))),
		ggufKey(ggufTokens+"scores", ggufArray, list(ggufFloat32, le32(0), le32(0), le32(0x3f800000), le32(0))),
		ggufKey(ggufTokens+"merges", ggufArray, list(ggufString, ggufText("a a"))),
		ggufU32(ggufTokens+"bos_token_id", 0), ggufU32(ggufTokens+"eos_token_id", 0), ggufU32(ggufTokens+"unknown_token_id", 0),
		ggufKey(ggufTokens+"add_bos_token", ggufBool, "\x01"), ggufKey(ggufTokens+"add_space_prefix", ggufBool, "\x00"),
		ggufStr("tokenizer.chat_template", "{{ messages }}"))
	return m.file()
}

// FuzzFolder: a folder is opened or refused whatever one of its files has. Input is the
// name of that file, a line end, and what it has.
func FuzzFolder(f *testing.F) {
	c, err := model.ParseConfig([]byte(smallConfig))
	if err != nil {
		f.Fatal(err)
	}
	placed := map[string]string{}
	for _, tensor := range c.Tensors() {
		placed[tensor.Name] = map[bool]string{true: "layers.safetensors", false: "rest.safetensors"}[inLayer(tensor.Name)]
	}
	base := fstest.MapFS{
		"config.json":            file(smallConfig),
		"generation_config.json": file(`{"eos_token_id":[2,7],"top_k":40,"temperature":0.5,"do_sample":true,"bad_words_ids":[[1]],"num_beams":1,"min_length":0}`),
		"tokenizer_config.json":  file(`{"eos_token":{"content":"<end>"},"bos_token":"<s>","add_bos_token":true,"chat_template":[{"name":"default","template":"T"}]}`),
		"tokenizer.json":         file(`{"added_tokens":[{"id":5,"content":"<end>"}],"model":{"vocab":{"a":0}}}`),
		"chat_template.jinja":    file("{{ messages }}"),
		indexFile:                index(placed),
		"layers.safetensors":     {Data: smallShard(f, inLayer)},
		"rest.safetensors":       {Data: smallShard(f, outOfLayer)},
	}
	for name, content := range base {
		f.Add([]byte(name + "\n" + string(content.Data)))
	}
	f.Add([]byte(indexFile + "\n" + `{"weight_map":{"a":"../a"}}`))
	fuzztest.Fuzz(f, fuzzBase, func(t *testing.T, input []byte) {
		name, content, _ := bytes.Cut(input, []byte("\n"))
		if base[string(name)] == nil {
			return
		}
		folder := fstest.MapFS{string(name): {Data: content}}
		for other, content := range base {
			if folder[other] == nil {
				folder[other] = content
			}
		}
		c, err := openFolder(folder)
		if err != nil {
			oneLine(t, err)
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNotFound) && !errors.Is(err, model.ErrConfig) && !errors.Is(err, model.ErrUnsupported) {
				t.Errorf("%v is of no kind", err)
			}
			return
		}
		readSome(t, c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// readSome checks an opened checkpoint against its configuration, if it has one, and reads
// some of its tensors.
func readSome(t *testing.T, c *Checkpoint) {
	if c.Config != nil {
		if _, err := weights.Size(c.Config, c); err != nil {
			oneLine(t, err)
		}
	}
	read := 0
	for _, s := range c.Tensors() {
		if s.DType == model.Invalid || s.Bytes() > 64<<10 {
			continue
		}
		wide(t, c, s.Name)
		if read++; read == 16 {
			return
		}
	}
}

func oneLine(t *testing.T, err error) {
	t.Helper()
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("the error has more than one line: %q", err)
	}
}
