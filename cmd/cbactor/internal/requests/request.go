package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// Request is a line of a file, its settings over the defaults.
type Request struct {
	ID       string       // "": not given
	Prompt   texts.Prompt // exactly one of its fields is set
	Settings Settings
}

// parse reads one line over what r has. It is filled as far as the line was read.
func parse(line []byte, r *Request) error {
	if err := checkUnicode(line); err != nil {
		return err
	}
	if line[0] != '{' { // alike for all lines of another kind of file
		return errNoObject
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	var own Settings
	if err := object(dec, r.fields(&own)); err != nil {
		return err
	}
	r.Settings.Over(own)
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the closing }")
	}
	if err := r.Settings.OwnStop(own); err != nil {
		return err
	}
	return r.check()
}

// fields are the keys of a line, whose settings go to own.
func (r *Request) fields(own *Settings) map[string]field {
	fields := map[string]field{
		"request_id": {value(&r.ID), "text"},
		"prompt":     {value(&r.Prompt.Text), "text"},
		"prompt_ids": {r.readIDs, "a list of token ids"},
		"messages":   {r.readMessages, "a list of messages, each with the texts role and content"},
	}
	for _, s := range table {
		if s.Name != "" {
			fields[s.Name] = field{func(dec *json.Decoder) error { return s.read(own, dec) }, s.Want}
		}
	}
	return fields
}

func (r *Request) check() error {
	given := 0
	for _, is := range []bool{r.Prompt.Text != nil, r.Prompt.IDs != nil, r.Prompt.Messages != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("%d of prompt, prompt_ids and messages are given, must be one", given)
	}
	if r.Prompt.Messages != nil && len(r.Prompt.Messages) == 0 {
		return errors.New("messages is empty, must have one or more")
	}
	return r.Settings.Check()
}

func (r *Request) readIDs(dec *json.Decoder) (err error) {
	r.Prompt.IDs, err = readIDs(dec)
	return err
}

func (r *Request) readMessages(dec *json.Decoder) error {
	return list(dec, func() error {
		var role, content *string
		err := object(dec, map[string]field{"role": {value(&role), "text"}, "content": {value(&content), "text"}})
		if err != nil {
			return err
		}
		if role == nil || content == nil {
			return errType
		}
		r.Prompt.Messages = append(r.Prompt.Messages, text.Message{Role: *role, Content: *content})
		return nil
	}, func() { r.Prompt.Messages = []text.Message{} })
}
