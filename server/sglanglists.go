package server

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// oneOrMany is one value, or a list of values; nil stands for null.
type oneOrMany[T any] struct {
	list []*T
	many bool // it came as a list
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *oneOrMany[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case 'n':
		return dec.SkipValue()
	case '[':
		o.many = true
		return json.UnmarshalDecode(dec, &o.list)
	}
	o.list = []*T{new(T)}
	return json.UnmarshalDecode(dec, o.list[0])
}

// at is the value for one of several that the values are for; nil: none.
func (o *oneOrMany[T]) at(i int) *T {
	switch {
	case o.many:
		return o.list[i]
	case o.list == nil:
		return nil
	}
	return o.list[0]
}

// or is at, or what holds where nothing is given.
func (o *oneOrMany[T]) or(i int, otherwise T) T {
	if v := o.at(i); v != nil {
		return *v
	}
	return otherwise
}

// idLists are the token ids of a prompt, or a list of those of several.
type idLists struct {
	list [][]int32
	many bool // they came as a list of lists
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *idLists) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if inner := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte{'['}), " \t\r\n"); raw.Kind() == '[' && inner[0] == '[' {
		l.many = true
		if unmarshal(raw, &l.list) != nil {
			return errIDLists
		}
		return nil
	}
	l.list = [][]int32{{}}
	if unmarshal(raw, &l.list[0]) != nil {
		return errIDLists
	}
	return nil
}

var errIDLists = must("a list of token ids or a list of such lists")
