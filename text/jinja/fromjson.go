package jinja

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
)

// FromJSON is a JSON text as a template sees it: dicts keep their order, whole numbers
// their size, and all strings are [Foreign]. It nests at most depth levels.
func FromJSON(source []byte, depth int) (Value, error) {
	d := &jsonReader{json.NewDecoder(bytes.NewReader(source))}
	d.UseNumber()
	v, err := d.value(depth)
	if err != nil {
		return nil, fmt.Errorf("no JSON: %s", oneLine(err.Error()))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("no JSON: something follows it")
	}
	return v, nil
}

type jsonReader struct{ *json.Decoder }

func (d *jsonReader) value(depth int) (Value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if depth == 0 {
			return nil, errors.New("it nests too deep")
		}
		if t == '{' {
			return d.dict(depth - 1)
		}
		return d.list(depth - 1)
	case string:
		return Foreign(t), nil
	case bool:
		return t, nil
	case json.Number:
		return jsonNumber(t)
	}
	return nil, nil
}

// jsonNumber is whole where it is written without a dot and an exponent, as Python
// reads it.
func jsonNumber(n json.Number) (Value, error) {
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	if !bytes.ContainsAny([]byte(n), ".eE") {
		if len(n) > maxDigits {
			return nil, fmt.Errorf("a number has %d digits, at most %d are taken", len(n), maxDigits)
		}
		if i, ok := new(big.Int).SetString(string(n), 10); ok {
			return i, nil
		}
	}
	return n.Float64()
}

func (d *jsonReader) list(depth int) (Value, error) {
	l := &List{}
	for d.More() {
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, v)
	}
	_, err := d.Token() // what closes it
	return l, err
}

func (d *jsonReader) dict(depth int) (Value, error) {
	all := NewDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // the decoder gives nothing else here
		all.Set(Foreign(name), v)
	}
	_, err := d.Token() // what closes it
	return all, err
}
