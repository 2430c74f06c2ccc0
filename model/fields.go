package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// fields reads a JSON object by field name. The first error is kept, and every
// later read gives its default, so that a caller checks err once.
type fields struct {
	raw    map[string]json.RawMessage
	inside bool // they are the text_config of a model that sees
	err    error
}

const (
	maxFields = 4096    // of an object, and values of a list
	maxValue  = 1 << 17 // bytes of a value that is decoded: a list of thousands of layers, and less than any wrong one of millions
)

// Fields decodes an object, of as many fields as a configuration has at most. Errors wrap
// ErrConfig.
func Fields(js []byte) (map[string]json.RawMessage, error) {
	f := newFields(js)
	return f.raw, f.err
}

func newFields(js []byte) *fields {
	f := &fields{}
	if members(js) > maxFields { // before memory is taken for each
		f.err = fmt.Errorf("%w: an object has more than %d fields", ErrConfig, maxFields)
	} else if err := json.Unmarshal(js, &f.raw); err != nil {
		f.err = fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return f
}

// members counts those of an object, or the values of a list, by the commas between them.
func members(js []byte) int {
	n, depth, inText := 1, 0, false
	for i := 0; i < len(js); i++ {
		switch c := js[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 1:
			n++
		}
	}
	return n
}

// enter goes into an object. What the reference reads outside goes before what is inside,
// and of the head it looks outside alone. Kinds of models, and what encodes other things
// than text, stay outside.
func (f *fields) enter(name string) {
	if !f.has(name) {
		f.fail("%s: %w: it is missing or null, want an object", name, ErrConfig)
		return
	}
	inner := f.object(name)
	const tied = "tie_word_embeddings"
	delete(inner.raw, tied)
	for _, name := range []string{"bos_token_id", "eos_token_id", tied, "dtype", "torch_dtype", "quantization_config", "compression_config", "per_layer_config"} {
		if f.has(name) {
			inner.raw[name] = f.raw[name]
		}
	}
	f.raw, f.inside = inner.raw, true
}

// object is a field that is an object, empty where there is none.
func (f *fields) object(name string) *fields {
	inner := &fields{raw: map[string]json.RawMessage{}}
	if f.err != nil || !f.has(name) {
		return inner
	}
	read := newFields(f.raw[name])
	if read.err != nil {
		f.fail("%s: %w", name, read.err)
		return inner
	}
	return read
}

// has tells whether a field is there and not null.
func (f *fields) has(name string) bool {
	raw, ok := f.raw[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// value decodes a field, or gives def when it is absent or null.
func value[T any](f *fields, name string, def T) T {
	if f.err != nil || !f.has(name) {
		return def
	}
	if n := len(f.raw[name]); n > maxValue {
		f.fail("%w: field %s has %d bytes, at most %d are read", ErrConfig, name, n, maxValue)
		return def
	}
	v := def
	if err := json.Unmarshal(f.raw[name], &v); err != nil {
		f.fail("%w: field %s: %.200s", ErrConfig, name, err) // cut: it may have a number of many digits
		return def
	}
	return v
}

// values decodes a list, nil when it is absent or null.
func values[T any](f *fields, name string) []T {
	if n := members(f.raw[name]); n > maxFields { // before memory is taken for each
		f.fail("%w: field %s has %d values, at most %d are read", ErrConfig, name, n, maxFields)
	}
	return value(f, name, []T(nil))
}

// size decodes a whole number that must lie in 1…limit, and be there unless there is a
// default for it. It gives 1 after an error, so that memory can be taken for it.
func (f *fields) size(name string, limit int, defaults map[string]int) int {
	def, ok := defaults[name]
	if !ok && f.err == nil && !f.has(name) {
		f.fail("%w: field %s is missing", ErrConfig, name)
	}
	n := value(f, name, max(def, 1))
	if n < 1 || n > limit {
		f.fail("%w: %s is %d, want 1 to %d", ErrConfig, name, n, limit)
		return 1
	}
	return n
}

// MaxIDs is how many ids a list of end tokens has at most.
const MaxIDs = 1024

// ids decodes a token id or a list of them; null and negative ids mean none.
func (f *fields) ids(name string, def []int32) []int32 {
	if _, there := f.raw[name]; !there {
		return def
	}
	if !f.has(name) {
		return nil
	}
	var list []int32
	if f.raw[name][0] == '[' {
		list = values[int32](f, name)
	} else {
		list = []int32{value(f, name, int32(-1))}
	}
	out := list[:0]
	for _, id := range list {
		if id >= 0 && !slices.Contains(out, id) {
			out = append(out, id)
		}
		if len(out) > MaxIDs {
			f.fail("%w: %s has more than %d ids", ErrConfig, name, MaxIDs)
			return nil
		}
	}
	return out
}

// onOneLine is a field as the file has it, without the white space between its parts, of a
// long one the beginning.
func (f *fields) onOneLine(name string) string {
	const enough = 512
	var b []byte
	inText, escaped := false, false
	for _, c := range f.raw[name] {
		if !inText && (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			continue
		}
		if c == '"' && !escaped {
			inText = !inText
		}
		escaped = c == '\\' && !escaped
		if b = append(b, c); len(b) == enough {
			break
		}
	}
	return string(b)
}
