package requests

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// errType says that a value is not of the type that its field wants.
var errType = errors.New("wrong type")

// errNoObject says that what should be an object is something else.
var errNoObject = fmt.Errorf("%w: must be an object in { }", errType)

// field reads the value of a key and says in words what it must be.
type field struct {
	read func(*json.Decoder) error
	want string
}

// value reads a value into v; null leaves v as it is.
func value(v any) func(*json.Decoder) error {
	return func(dec *json.Decoder) error { return dec.Decode(v) }
}

// object reads an object that has some of the fields, each once. encoding/json
// takes keys of any case, twice, and unknown ones, so it is walked by hand.
func object(dec *json.Decoder, fields map[string]field) error {
	if t, err := dec.Token(); err != nil {
		return syntax(err)
	} else if t != json.Delim('{') {
		return errNoObject
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return syntax(err)
		}
		key, ok := t.(string)
		f, known := fields[key]
		switch {
		case !ok: // the decoder lets no other token through
			return fmt.Errorf("%w: %v is no key", errType, t)
		case !known:
			return fmt.Errorf("%.40q is not known here", key)
		case seen[key]:
			return fmt.Errorf("%q is there twice", key)
		}
		seen[key] = true
		if err := f.read(dec); err != nil {
			return fieldError(key, f.want, err)
		}
	}
	_, err := dec.Token() // the closing }
	return syntax(err)
}

// list reads a list, each element by read. With null nothing is called, else
// first begin.
func list(dec *json.Decoder, read func() error, begin func()) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	if t == nil {
		return nil
	}
	if t != json.Delim('[') {
		return errType
	}
	begin()
	for dec.More() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// fieldError says what a field must be when its value is JSON but of another
// type, and where the JSON ends otherwise.
func fieldError(key, want string, err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) || errors.Is(err, errType) {
		return fmt.Errorf("%q must be %s", key, want)
	}
	if errors.As(err, new(*json.SyntaxError)) {
		return fmt.Errorf("the value of %q is no JSON", key)
	}
	return syntax(err)
}

// syntax says what is wrong with text that is no JSON, alike for all of a kind.
func syntax(err error) error {
	var bad *json.SyntaxError
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return errors.New("the JSON ends early")
	case errors.As(err, &bad):
		return errors.New("it is no JSON")
	}
	return err
}
