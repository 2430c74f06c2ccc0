package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/text/grammar"
)

// ErrFunctions: functions cannot be called for, by their number or what one of them is.
var ErrFunctions = errors.New("bad functions")

// Function is what a model may call.
type Function struct {
	Name       string
	Parameters json.RawMessage // a JSON schema of an object; nil or {}: any object
}

// Force is the grammar of an answer that is a call of one of some functions, in the form
// that a Parser of the style reads. What is wrong with a schema is told when the grammar is
// compiled. Errors: ErrFunctions.
func Force(s Style, functions []Function) (grammar.Spec, error) {
	spec, key := grammar.Spec{}, "arguments"
	switch s {
	case Hermes:
		spec.Before, spec.After = opening+"\n", "\n"+closing
	case Llama3:
		key = "parameters"
	default:
		return spec, fmt.Errorf("%w: the model writes no calls", ErrFunctions)
	}
	if len(functions) == 0 {
		return spec, fmt.Errorf("%w: there are none", ErrFunctions)
	}
	var calls []json.RawMessage
	for i, f := range functions {
		call, err := f.call(key, i)
		if err != nil {
			return spec, err
		}
		calls = append(calls, call)
	}
	schema, err := json.Marshal(map[string]any{"anyOf": calls})
	spec.Schema = schema
	return spec, err
}

// call is the schema of a call.
func (f Function) call(key string, number int) (json.RawMessage, error) {
	if f.Name == "" {
		return nil, fmt.Errorf("%w: number %d has no name", ErrFunctions, number+1)
	}
	name, err := json.Marshal(f.Name)
	if err != nil {
		return nil, fmt.Errorf("%w: the name of number %d: %w", ErrFunctions, number+1, err)
	}
	parameters, err := f.parameters(number)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{"name":{"const":%s},%q:%s},"required":["name",%q],"additionalProperties":false}`,
		name, key, parameters, key), nil
}

// parameters is the schema of the arguments as a resource of its own, so that references
// within it mean its own parts.
func (f Function) parameters(number int) ([]byte, error) {
	var members map[string]json.RawMessage
	if f.Parameters != nil {
		if err := json.Unmarshal(f.Parameters, &members); err != nil || members == nil {
			return nil, fmt.Errorf("%w: the parameters of %.60q are no JSON schema of an object", ErrFunctions, f.Name)
		}
	}
	if len(members) == 0 {
		return []byte(`{"type":"object"}`), nil
	}
	if _, own := members["$id"]; own {
		return f.Parameters, nil
	}
	rest := bytes.TrimSpace(f.Parameters)[1:]
	return append(fmt.Appendf(nil, `{"$id":"function-%d",`, number), rest...), nil
}
