package server

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// unmarshal reads JSON. A null in the place of a value that may be missing is as if it were;
// in a list of numbers or of texts it is refused: it would stand for 0, which is a token, or
// for "".
func unmarshal(data []byte, into any, how ...json.Options) error {
	return json.Unmarshal(data, into, noNulls, json.JoinOptions(how...))
}

var noNulls = json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(inList[int32]), json.UnmarshalFromFunc(inList[string])))

// inList refuses null where a list's item must be.
func inList[T any](dec *jsontext.Decoder, _ *T) error {
	if dec.PeekKind() == 'n' {
		if within, _ := dec.StackIndex(dec.StackDepth()); within == '[' {
			return errNull
		}
	}
	return errors.ErrUnsupported // is read as it would be
}

var errNull = must("a value, not null")
