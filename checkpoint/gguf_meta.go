package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/cbactor/cbactor/model"
)

// ggufMeta is the metadata of a GGUF file by key.
type ggufMeta map[string]any

// ggufFields reads metadata by key, and looks tensors up by name. The first error is kept, and every later read
// gives its default, so that a caller checks err once.
type ggufFields struct {
	meta    ggufMeta
	tensors map[string]*ggufTensor
	err     error
}

func (f *ggufFields) fail(key string, v any, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: GGUF: %s is %s, want %s", ErrFormat, key, ggufWords(v), want)
	}
}

// refuse keeps the error for a setting that is not implemented.
func (f *ggufFields) refuse(key string, v any) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: GGUF setting %s %s is not implemented", model.ErrUnsupported, key, ggufWords(v))
	}
}

// number reads a whole number of any integer type.
func (f *ggufFields) number(key string, def int) int {
	switch v := f.meta[key].(type) {
	case nil:
		return def
	case uint64:
		if v <= math.MaxInt32 {
			return int(v)
		}
	case int64:
		if v >= 0 && v <= math.MaxInt32 {
			return int(v)
		}
	}
	f.fail(key, f.meta[key], "a whole number")
	return def
}

// id reads a token id, -1 when there is none.
func (f *ggufFields) id(key string) int32 {
	if v, ok := f.meta[key].(uint64); ok && v == math.MaxUint32 {
		return -1 // how llama.cpp writes "none"
	}
	return int32(f.number(key, -1))
}

func (f *ggufFields) float(key string, def float64) float64 {
	switch v := f.meta[key].(type) {
	case nil:
		return def
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	}
	f.fail(key, f.meta[key], "a finite floating-point number")
	return def
}

func (f *ggufFields) bool(key string, def bool) bool {
	switch v := f.meta[key].(type) {
	case nil:
		return def
	case bool:
		return v
	}
	f.fail(key, f.meta[key], "a bool")
	return def
}

func (f *ggufFields) text(key, def string) string {
	switch v := f.meta[key].(type) {
	case nil:
		return def
	case string:
		if utf8.ValidString(v) {
			return v
		}
	}
	f.fail(key, f.meta[key], "text in UTF-8")
	return def
}

// texts reads an array of strings, nil when there is none.
func (f *ggufFields) texts(key string) []string {
	switch v := f.meta[key].(type) {
	case nil:
		return nil
	case *ggufList:
		if v.elem == ggufString {
			return v.texts
		}
	}
	f.fail(key, f.meta[key], "a list of texts")
	return nil
}

// numbers reads an array of a value type of 32 bits, nil when there is none.
func numbers[T any](f *ggufFields, key string, elem uint32, number func(bits uint32) T) []T {
	v, ok := f.meta[key].(*ggufList)
	if f.meta[key] == nil {
		return nil
	}
	if !ok || v.elem != elem {
		f.fail(key, f.meta[key], "a list of numbers of the right type")
		return nil
	}
	out := make([]T, v.n)
	for i := range out {
		out[i] = number(binary.LittleEndian.Uint32(v.raw[4*i:]))
	}
	return out
}

// alignment is where tensors may begin.
func (m ggufMeta) alignment() (uint64, error) {
	switch a := m["general.alignment"].(type) {
	case nil:
		return defaultAlignment, nil
	case uint64:
		if a >= 8 && a <= 1<<20 && a&(a-1) == 0 {
			return a, nil
		}
	}
	return 0, fmt.Errorf("general.alignment is %s, a power of two from 8 to 1 Mi is possible", ggufWords(m["general.alignment"]))
}

// refuseSplit refuses a file that is one of several.
func (m ggufMeta) refuseSplit(tensors uint64) error {
	if v, ok := m["split.tensors.count"]; ok && !equalsCount(v, tensors) {
		return fmt.Errorf("split.tensors.count is %s, the file has %d: merge the parts into one file", ggufWords(v), tensors)
	}
	if v, ok := m["split.count"]; ok && !equalsCount(v, 0) && !equalsCount(v, 1) {
		return fmt.Errorf("it is one of %s parts: merge them into one file", ggufWords(v))
	}
	return nil
}

func equalsCount(v any, n uint64) bool {
	switch v := v.(type) {
	case uint64:
		return v == n
	case int64:
		return v >= 0 && uint64(v) == n
	}
	return false
}
