package server

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine/texts"
)

// stops are the strings of stop: one, or a list.
type stops []string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *stops) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if raw.Kind() == '"' {
		*s = stops{""}
		return unmarshal(raw, &(*s)[0])
	}
	if raw.Kind() != '[' {
		return errStop
	}
	list := jsontext.NewDecoder(bytes.NewReader(raw)) // not all of it is read where it is too long
	_, err = list.ReadToken()
	for err == nil && list.PeekKind() == '"' {
		if len(*s) == maxStops {
			return must("at most %d strings", maxStops)
		}
		var t jsontext.Token
		t, err = list.ReadToken()
		*s = append(*s, t.String())
	}
	if err == nil && list.PeekKind() != ']' {
		err = errStop
	}
	return err
}

var errStop = must("a string or a list of strings")

// prompts are those of completions: a text, a list of texts, token ids, or lists of them.
type prompts []texts.Prompt

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *prompts) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if raw.Kind() == '"' {
		return p.texts(bytes.Join([][]byte{{'['}, raw, {']'}}, nil))
	}
	first := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte{'['}), " \t\r\n")
	switch {
	case raw.Kind() != '[':
		return errPrompt
	case first[0] == '"':
		return p.texts(raw)
	case first[0] == '[':
		var lists [][]int32
		if unmarshal(raw, &lists) != nil {
			return errPrompt
		}
		for _, ids := range lists {
			*p = append(*p, texts.Prompt{IDs: ids})
		}
		return nil
	}
	var ids []int32
	if unmarshal(raw, &ids) != nil {
		return errPrompt
	}
	*p = prompts{{IDs: ids}}
	return nil
}

func (p *prompts) texts(raw []byte) error {
	var list []string
	if unmarshal(raw, &list) != nil {
		return errPrompt
	}
	for i := range list {
		*p = append(*p, texts.Prompt{Text: &list[i]})
	}
	return nil
}

var errPrompt = must("a string, a list of strings, a list of token ids or a list of such lists")

// content is what a message says: a string, or parts of text.
type content struct {
	text  string
	parts []string // nil: it is a string
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if raw.Kind() == '"' {
		return unmarshal(raw, &c.text)
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if unmarshal(raw, &parts) != nil {
		return must("a string or a list of parts")
	}
	c.parts = make([]string, 0, len(parts))
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
		default:
			return must("text: parts of type %.40q are not taken", p.Type)
		}
		if p.Text == nil {
			return must("text: a part has none")
		}
		c.parts = append(c.parts, *p.Text)
	}
	return nil
}

// given says whether a value is there, and not null.
func given(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }
