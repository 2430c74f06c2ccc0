package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cbactor/cbactor/text"
)

// Prompt is what a request begins with: exactly one of its fields is set.
type Prompt struct {
	Text     *string
	IDs      []int32
	Messages []text.Message
}

// Request is a line of a file. Nil fields were not given.
type Request struct {
	ID           string // "": not given
	Prompt       Prompt
	MaxNewTokens *int
	Temperature  *float64
	TopK         *int32
	TopP         *float64
	Seed         *uint64
	IgnoreEOS    *bool
}

// parse reads one line. The request is filled as far as it was read.
func parse(line []byte, r *Request) error {
	if err := checkUnicode(line); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if err := object(dec, r.fields()); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the closing }")
	}
	return r.check()
}

func (r *Request) fields() map[string]field {
	return map[string]field{
		"request_id":     {value(&r.ID), "text"},
		"prompt":         {value(&r.Prompt.Text), "text"},
		"prompt_ids":     {r.readIDs, "a list of token ids"},
		"messages":       {r.readMessages, "a list of messages, each with the texts role and content"},
		"max_new_tokens": {value(&r.MaxNewTokens), "a whole number"},
		"temperature":    {value(&r.Temperature), "a number"},
		"top_k":          {value(&r.TopK), "a whole number"},
		"top_p":          {value(&r.TopP), "a number"},
		"seed":           {value(&r.Seed), "a whole number from 0 to 18446744073709551615"},
		"ignore_eos":     {value(&r.IgnoreEOS), "true or false"},
	}
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
	if r.MaxNewTokens != nil && *r.MaxNewTokens < 1 {
		return fmt.Errorf("max_new_tokens is %d, must be 1 or more", *r.MaxNewTokens)
	}
	return nil
}

// readIDs reads the list number by number: encoding/json would take null for 0.
func (r *Request) readIDs(dec *json.Decoder) error {
	return list(dec, func() error {
		var id *int32
		if err := dec.Decode(&id); err != nil {
			return err
		}
		if id == nil {
			return errType
		}
		r.Prompt.IDs = append(r.Prompt.IDs, *id)
		return nil
	}, func() { r.Prompt.IDs = []int32{} })
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
