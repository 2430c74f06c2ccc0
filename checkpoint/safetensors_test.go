package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// safetensorsFile puts a header and data together; the length may lie.
func safetensorsFile(header string, length uint64, data []byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, length), header...), data...)
}

// entry is a tensor's entry in a header.
func entry(name, dtype, shape string, begin, end int) string {
	return fmt.Sprintf(`"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, name, dtype, shape, begin, end)
}

func TestSafetensorsAccepts(t *testing.T) {
	for name, test := range map[string]struct {
		header  string
		data    int
		tensors int
	}{
		"two":              {"{" + entry("a", "F32", "[8]", 0, 32) + "," + entry("b", "F32", "[8]", 32, 64) + "}", 64, 2},
		"any order":        {"{" + entry("b", "F32", "[8]", 32, 64) + "," + entry("a", "F32", "[8]", 0, 32) + "}", 64, 2},
		"metadata":         {`{"__metadata__":{"format":"pt"},` + entry("a", "F32", "[16]", 0, 64) + "}", 64, 1},
		"empty metadata":   {`{"__metadata__":{},` + entry("a", "F32", "[16]", 0, 64) + "}", 64, 1},
		"padding":          {"{" + entry("a", "F32", "[16]", 0, 64) + "}     ", 64, 1},
		"scalar":           {"{" + entry("a", "F32", "[]", 0, 4) + "}", 4, 1},
		"empty tensor":     {"{" + entry("a", "F32", "[0,5]", 0, 0) + "}", 0, 1},
		"no tensor":        {"{}", 0, 0},
		"unaligned":        {"{" + entry("a", "U8", "[3]", 0, 3) + "," + entry("b", "F32", "[2]", 3, 11) + "}", 11, 2},
		"bf16":             {"{" + entry("a", "BF16", "[32]", 0, 64) + "}", 64, 1},
		"four bits":        {"{" + entry("a", "F4", "[128]", 0, 64) + "}", 64, 1},
		"eight-bit floats": {"{" + entry("a", "F8_E4M3", "[64]", 0, 64) + "}", 64, 1},
		"scales":           {"{" + entry("a", "F8_E8M0", "[64]", 0, 64) + "}", 64, 1},
		"complex":          {"{" + entry("a", "C64", "[8]", 0, 64) + "}", 64, 1},
		"extra field":      {`{"a":{"x":[{"y":1}],"dtype":"F32","shape":[16],"data_offsets":[0,64]}}`, 64, 1},
		"NUL in a name":    {`{"a\u0000":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}`, 64, 1},
	} {
		file := safetensorsFile(test.header, uint64(len(test.header)), make([]byte, test.data))
		tensors, err := readSafetensors(bytes.NewReader(file), int64(len(file)))
		if err != nil || len(tensors) != test.tensors {
			t.Errorf("%s: %d tensors, want %d, error %v", name, len(tensors), test.tensors, err)
		}
	}
}

// hostileSafetensors are files that must be refused. The cases, but for equal duplicates,
// are those that the format's Rust library refuses.
func hostileSafetensors() map[string][]byte {
	const good = `{"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}`
	files := map[string][]byte{
		"empty":             nil,
		"seven bytes":       {1, 0, 0, 0, 0, 0, 0},
		"eight bytes":       make([]byte, 8),
		"length 2^64-1":     safetensorsFile(good, 1<<64-1, make([]byte, 64)),
		"length 2^64-8":     safetensorsFile(good, 1<<64-8, make([]byte, 64)),
		"length 2^63":       safetensorsFile(good, 1<<63, make([]byte, 64)),
		"length over limit": safetensorsFile(good, maxSafetensorsHeader+1, make([]byte, 64)),
		"length past end":   safetensorsFile(good, 5000, make([]byte, 64)),
		"length 0":          safetensorsFile("", 0, make([]byte, 64)),
		"no data":           safetensorsFile(good, uint64(len(good)), nil),
		"data cut":          safetensorsFile(good, uint64(len(good)), make([]byte, 63)),
	}
	for name, header := range map[string]string{
		"shape wraps to 0": "{" + entry("a", "F32", "[4294967296,4294967296]", 0, 0) + "}",
		"overflow times 0": "{" + entry("a", "F32", "[9223372036854775807,4,0]", 0, 0) + "}",
		"half a byte":      "{" + entry("a", "F4", "[1]", 0, 0) + "}",
	} {
		files[name] = safetensorsFile(header, uint64(len(header)), nil)
	}
	for name, header := range map[string]string{
		"overlap":          "{" + entry("a", "F32", "[10]", 0, 40) + "," + entry("b", "F32", "[8]", 32, 64) + "}",
		"same range":       "{" + entry("a", "F32", "[16]", 0, 64) + "," + entry("b", "F32", "[16]", 0, 64) + "}",
		"hole":             "{" + entry("a", "F32", "[4]", 0, 16) + "," + entry("b", "F32", "[8]", 32, 64) + "}",
		"hole at start":    "{" + entry("a", "F32", "[12]", 16, 64) + "}",
		"tail":             "{" + entry("a", "F32", "[8]", 0, 32) + "}",
		"past end":         "{" + entry("a", "F32", "[32]", 0, 128) + "}",
		"reversed":         "{" + entry("a", "F32", "[8]", 64, 32) + "}",
		"negative offset":  "{" + entry("a", "F32", "[8]", -32, 0) + "}",
		"shape and span":   "{" + entry("a", "F32", "[17]", 0, 64) + "}",
		"shape overflows":  "{" + entry("a", "F32", "[8589934592,8589934592]", 0, 64) + "}",
		"shape wraps":      "{" + entry("a", "F32", "[4611686018427387904,4,16]", 0, 64) + "}",
		"negative shape":   "{" + entry("a", "F32", "[-16]", 0, 64) + "}",
		"fraction":         "{" + entry("a", "F32", "[16.0]", 0, 64) + "}",
		"exponent":         "{" + entry("a", "F32", "[1.6e1]", 0, 64) + "}",
		"huge rank":        "{" + entry("a", "F32", "[16"+strings.Repeat(",1", 100)+"]", 0, 64) + "}",
		"huge offset":      `{"a":{"dtype":"F32","shape":[16],"data_offsets":[18446744073709551552,18446744073709551616]}}`,
		"three offsets":    `{"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64,64]}}`,
		"one offset":       `{"a":{"dtype":"F32","shape":[16],"data_offsets":[0]}}`,
		"twice":            "{" + entry("a", "F32", "[8]", 0, 32) + "," + entry("a", "F32", "[8]", 32, 64) + "}",
		"twice the same":   "{" + entry("a", "F32", "[16]", 0, 64) + "," + entry("a", "F32", "[16]", 0, 64) + "}",
		"field twice":      `{"a":{"dtype":"F32","dtype":"I32","shape":[16],"data_offsets":[0,64]}}`,
		"field's case":     `{"a":{"DType":"F32","Shape":[16],"Data_Offsets":[0,64]}}`,
		"no dtype":         `{"a":{"shape":[16],"data_offsets":[0,64]}}`,
		"no shape":         `{"a":{"dtype":"F32","data_offsets":[0,64]}}`,
		"not UTF-8":        "{\"\xff\xfe\":{\"dtype\":\"F32\",\"shape\":[16],\"data_offsets\":[0,64]}}",
		"lone surrogate":   `{"\ud800":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}`,
		"unknown dtype":    "{" + entry("a", "F99", "[16]", 0, 64) + "}",
		"dtype a number":   `{"a":{"dtype":3,"shape":[16],"data_offsets":[0,64]}}`,
		"shape a text":     `{"a":{"dtype":"F32","shape":["16"],"data_offsets":[0,64]}}`,
		"metadata number":  `{"__metadata__":{"x":3},"a":{"dtype":"F32","shape":[16],"data_offsets":[0,64]}}`,
		"list":             `[1,2]`,
		"trailing junk":    good + " x",
		"trailing NUL":     good + "\x00\x00",
		"not closed":       good[:len(good)-1],
		"deep":             `{"a":` + strings.Repeat("[", 200000) + strings.Repeat("]", 200000) + "}",
		"deep extra field": `{"a":{"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}}",
	} {
		files[name] = safetensorsFile(header, uint64(len(header)), make([]byte, 64))
	}
	return files
}

func TestSafetensorsRefuses(t *testing.T) {
	for name, file := range hostileSafetensors() {
		err := cheaply(t, name, 1<<20, func() error {
			_, err := readSafetensors(bytes.NewReader(file), int64(len(file)))
			return err
		})
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Every cut of a good file is noticed.
func TestSafetensorsTruncated(t *testing.T) {
	header := "{" + entry("a", "F32", "[8]", 0, 32) + "," + entry("b", "BF16", "[16]", 32, 64) + "}"
	file := safetensorsFile(header, uint64(len(header)), make([]byte, 64))
	for n := range file {
		if _, err := readSafetensors(bytes.NewReader(file[:n]), int64(n)); !errors.Is(err, ErrFormat) {
			t.Errorf("cut at %d of %d: got %v", n, len(file), err)
		}
	}
}

// A header that claims to be long costs nothing until it is JSON.
func TestSafetensorsSparse(t *testing.T) {
	for name, file := range map[string]sparse{
		"zeros":           {head: safetensorsFile("{", maxSafetensorsHeader, nil), size: maxSafetensorsHeader + 1000},
		"spaces, too far": {head: safetensorsFile("{}", maxSafetensorsHeader+1, nil), fill: ' ', size: maxSafetensorsHeader + 9},
	} {
		err := cheaply(t, name, 1<<20, func() error {
			_, err := readSafetensors(file, file.size)
			return err
		})
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
