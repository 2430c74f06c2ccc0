package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// ggufBuilder makes GGUF files by hand, right ones and wrong ones.
type ggufBuilder struct {
	magic         string
	version       uint32
	keys, tensors []string // encoded
	keyCount      *uint64  // when it lies
	tensorCount   *uint64
	align         int
	data          []byte
}

func le32(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }
func le64(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }
func ggufText(s string) string {
	return le64(uint64(len(s))) + s
}
func ggufKey(key string, kind uint32, value string) string { return ggufText(key) + le32(kind) + value }
func ggufU32(key string, v uint32) string                  { return ggufKey(key, ggufUint32, le32(v)) }
func ggufStr(key, v string) string                         { return ggufKey(key, ggufString, ggufText(v)) }

func ggufEntry(name string, kind uint32, offset uint64, dims ...uint64) string {
	s := ggufText(name) + le32(uint32(len(dims)))
	for _, d := range dims {
		s += le64(d)
	}
	return s + le32(kind) + le64(offset)
}

func (b ggufBuilder) bytes() []byte {
	if b.magic == "" {
		b.magic = ggufMagic
	}
	if b.version == 0 {
		b.version = 3
	}
	keys, tensors := uint64(len(b.keys)), uint64(len(b.tensors))
	if b.keyCount != nil {
		keys = *b.keyCount
	}
	if b.tensorCount != nil {
		tensors = *b.tensorCount
	}
	s := b.magic + le32(b.version) + le64(tensors) + le64(keys) + strings.Join(b.keys, "") + strings.Join(b.tensors, "")
	align := max(b.align, 1)
	if b.align == 0 {
		align = defaultAlignment
	}
	s += strings.Repeat("\x00", (align-len(s)%align)%align)
	return append([]byte(s), b.data...)
}

var (
	ggufArchKey = ggufStr("general.architecture", "llama")
	tensorA     = ggufEntry("a", 0, 0, 32, 4)
	tensorB     = ggufEntry("b", 1, 512, 32, 2)
)

// withKeys is a file with one tensor and the given keys after the architecture.
func withKeys(keys ...string) []byte {
	return ggufBuilder{keys: append([]string{ggufArchKey}, keys...), tensors: []string{tensorA}, data: make([]byte, 4096)}.bytes()
}

// withTensors is a file with the given tensors.
func withTensors(tensors ...string) []byte {
	return ggufBuilder{keys: []string{ggufArchKey}, tensors: tensors, data: make([]byte, 4096)}.bytes()
}

func goodGGUF() []byte {
	return ggufBuilder{
		keys:    []string{ggufArchKey, ggufU32("llama.block_count", 1), ggufKey("tokenizer.ggml.tokens", ggufArray, le32(ggufString)+le64(2)+ggufText("x")+ggufText("y"))},
		tensors: []string{tensorA, tensorB},
		data:    make([]byte, 4096),
	}.bytes()
}

func TestGGUFAccepts(t *testing.T) {
	nested := le32(ggufArray) + le64(2) + le32(ggufUint8) + le64(1) + "\x07" + le32(ggufUint32) + le64(0)
	for name, file := range map[string][]byte{
		"good":         goodGGUF(),
		"version 2":    ggufBuilder{version: 2, tensors: []string{tensorA}, data: make([]byte, 512)}.bytes(),
		"alignment 64": ggufBuilder{align: 64, keys: []string{ggufU32("general.alignment", 64)}, tensors: []string{tensorA, tensorB}, data: make([]byte, 4096)}.bytes(),
		"no tensors":   ggufBuilder{keys: []string{ggufArchKey}}.bytes(),
		"nested array": withKeys(ggufKey("n", ggufArray, nested)),
		"one part":     withKeys(ggufKey("split.count", ggufUint16, "\x00\x00"), ggufKey("split.tensors.count", ggufInt32, le32(1))),
		"any order":    withTensors(tensorB, tensorA),
	} {
		if _, err := readGGUF(bytes.NewReader(file), int64(len(file))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// hostileGGUF are files that must be refused.
func hostileGGUF() map[string][]byte {
	count := func(n uint64) *uint64 { return &n }
	array := func(elem uint32, n uint64, rest string) string {
		return ggufKey("k", ggufArray, le32(elem)+le64(n)+rest)
	}
	deep := func(n int) []byte {
		return withKeys(ggufKey("k", ggufArray, strings.Repeat(le32(ggufArray)+le64(1), n)+le32(ggufUint8)+le64(0)))
	}
	tooManyDims := ggufText("a") + le32(1<<32-1) + le64(32) + le32(0) + le64(0)
	return map[string][]byte{
		"empty":                nil,
		"four bytes":           []byte(ggufMagic),
		"magic":                ggufBuilder{magic: "GGUX", tensors: []string{tensorA}, data: make([]byte, 512)}.bytes(),
		"version 1":            ggufBuilder{version: 1}.bytes(),
		"version 9":            ggufBuilder{version: 9}.bytes(),
		"big-endian":           ggufBuilder{version: 3 << 24}.bytes(),
		"2^63 keys":            ggufBuilder{keys: []string{ggufArchKey}, keyCount: count(1 << 63)}.bytes(),
		"2^32 keys":            ggufBuilder{keys: []string{ggufArchKey}, keyCount: count(1 << 32)}.bytes(),
		"2^63 tensors":         ggufBuilder{tensors: []string{tensorA}, tensorCount: count(1 << 63)}.bytes(),
		"2^64-1 tensors":       ggufBuilder{tensors: []string{tensorA}, tensorCount: count(1<<64 - 1)}.bytes(),
		"key of 2^64-1":        withKeys(le64(1<<64-1) + "abc"),
		"text of 2^63":         withKeys(ggufKey("k", ggufString, le64(1<<63)+"abc")),
		"text of 2^25":         withKeys(ggufKey("k", ggufString, le64(1<<25)+"abc")),
		"text of 2^40":         withKeys(ggufKey("k", ggufString, le64(1<<40)+"abc")),
		"2^63 bytes":           withKeys(array(ggufUint8, 1<<63, "")),
		"2^60 texts":           withKeys(array(ggufString, 1<<60, "")),
		"2^61 numbers":         withKeys(array(ggufUint64, 1<<61, "")),
		"2^33 numbers":         withKeys(array(ggufUint32, 1<<33, "")),
		"2^60 arrays":          withKeys(array(ggufArray, 1<<60, "")),
		"100,000 deep":         deep(100_000),
		"5,000,000 deep":       deep(5_000_000),
		"array type":           withKeys(array(99, 3, strings.Repeat("\x00", 64))),
		"value type":           withKeys(ggufKey("k", 99, strings.Repeat("\x00", 64))),
		"bool 7":               withKeys(ggufKey("k", ggufBool, "\x07")),
		"key twice":            withKeys(ggufArchKey),
		"empty key":            withKeys(ggufU32("", 5)),
		"key not UTF-8":        withKeys(ggufU32("\xff\xfe", 5)),
		"2^32-1 dimensions":    withTensors(tooManyDims),
		"5 dimensions":         withTensors(ggufEntry("a", 0, 0, 1, 1, 1, 1, 1)),
		"0 dimensions":         withTensors(ggufEntry("a", 0, 0)),
		"product 2^64":         withTensors(ggufEntry("a", 0, 0, 1<<32, 1<<32)),
		"dimension 2^63":       withTensors(ggufEntry("a", 0, 0, 1<<63)),
		"dimension 0":          withTensors(ggufEntry("a", 0, 0, 0, 4)),
		"offset past end":      withTensors(ggufEntry("a", 0, 1<<40, 32, 4)),
		"offset 2^63":          withTensors(ggufEntry("a", 0, 1<<63, 32, 4)),
		"offset 7":             withTensors(ggufEntry("a", 0, 7, 32, 4)),
		"overlap":              withTensors(tensorA, ggufEntry("b", 0, 32, 32, 4)),
		"data too short":       withTensors(ggufEntry("a", 0, 0, 4096, 4096)),
		"type 9999":            withTensors(ggufEntry("a", 9999, 0, 32, 4)),
		"type 4, removed":      withTensors(ggufEntry("a", 4, 0, 32, 4)),
		"part of a block":      withTensors(ggufEntry("a", 2, 0, 33, 4)),
		"tensor twice":         withTensors(tensorA, tensorA),
		"long name":            withTensors(ggufEntry(strings.Repeat("a", 200), 0, 0, 32)),
		"no name":              withTensors(ggufEntry("", 0, 0, 32)),
		"alignment 0":          withKeys(ggufU32("general.alignment", 0)),
		"alignment 3":          withKeys(ggufU32("general.alignment", 3)),
		"alignment a text":     withKeys(ggufStr("general.alignment", "x")),
		"alignment 2^31":       withKeys(ggufU32("general.alignment", 1<<31)),
		"split count negative": withKeys(ggufKey("split.tensors.count", ggufInt32, le32(1<<32-5))),
		"split count 2^62":     withKeys(ggufKey("split.tensors.count", ggufUint64, le64(1<<62))),
		"split count a text":   withKeys(ggufStr("split.tensors.count", "x")),
		"one of two parts":     withKeys(ggufKey("split.count", ggufUint16, "\x02\x00")),
	}
}

func TestGGUFRefuses(t *testing.T) {
	for name, file := range hostileGGUF() {
		err := cheaply(t, name, 16<<20, func() error {
			_, err := readGGUF(bytes.NewReader(file), int64(len(file)))
			return err
		})
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Every cut within the header and into the tensors is noticed.
func TestGGUFTruncated(t *testing.T) {
	file := goodGGUF()
	for n := range len(file) - 4096 + 512 + 128 {
		if _, err := readGGUF(bytes.NewReader(file[:n]), int64(n)); !errors.Is(err, ErrFormat) {
			t.Errorf("cut at %d of %d: got %v", n, len(file), err)
		}
	}
}

// A text that is as long as the file allows costs no memory when the header's
// limit does not.
func TestGGUFHeaderLimit(t *testing.T) {
	head := ggufBuilder{keys: []string{ggufKey("k", ggufString, le64(1<<32))}, align: 1}.bytes()
	file := sparse{head: head, size: 1 << 40}
	err := cheaply(t, "sparse", 16<<20, func() error {
		_, err := readGGUF(file, file.size)
		return err
	})
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestGGUFUnknownTypeNamesTensor(t *testing.T) {
	file := withTensors(ggufEntry("blk.0.attn_q.weight", 77, 0, 32, 4))
	_, err := readGGUF(bytes.NewReader(file), int64(len(file)))
	if !errors.Is(err, model.ErrUnsupported) || !strings.Contains(err.Error(), "blk.0.attn_q.weight") || !strings.Contains(err.Error(), "77") {
		t.Errorf("got %v", err)
	}
}

// Sizes in the table of types are those of the format's blocks.
func TestGGUFTypesAgreeWithModel(t *testing.T) {
	for n, kind := range ggufTypes {
		if kind.dtype == model.Invalid {
			continue
		}
		if kind.dtype.String() != kind.name || kind.dtype.Block() != int(kind.block) || kind.dtype.RowBytes(int(kind.block)) != int(kind.bytes) {
			t.Errorf("type %d: %+v", n, kind)
		}
	}
}
