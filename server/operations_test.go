package server

import (
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// operation is what a route takes and answers with, as values of the structs.
type operation struct {
	takes  any         // its body; nil: none
	query  any         // what its address may have, as fields
	loose  bool        // the body may be missing
	gives  any         // with 200
	events []any       // of a stream
	also   map[int]any // with other statuses, but for errors
}

// operations are all routes, by method and path.
var operations = map[string]operation{
	"POST /v1/completions":      {takes: completionParams{}, gives: completion{}, events: []any{completion{}, errorBody{}}},
	"POST /v1/chat/completions": {takes: chatParams{}, gives: chatCompletion{}, events: []any{chatCompletion{}, errorBody{}}},
	"POST /v1/responses": {takes: responseParams{}, gives: response{},
		events: []any{responseEvent{}, itemEvent{}, partEvent{}, deltaEvent{}, textEvent{}, errorEvent{}}},
	"GET /v1/models":         {gives: modelList{}},
	"GET /v1/models/{id...}": {gives: modelObject{}},
	"POST /tokenize":         {takes: tokenizeParams{}, gives: tokenized{}},
	"POST /detokenize":       {takes: detokenizeParams{}, gives: detokenized{}},
	"GET /health":            {gives: condition{}, also: map[int]any{http.StatusServiceUnavailable: condition{}}},
	"GET /ready":             {gives: condition{}, also: map[int]any{http.StatusServiceUnavailable: condition{}}},
	"GET /version":           {gives: programVersion{}},
	"GET /openapi.json":      {gives: jsontext.Value{}},

	"POST /pause":    {takes: pauseParams{}, query: pauseParams{}, loose: true, gives: pauseAnswer{}},
	"POST /resume":   {takes: resumeParams{}, query: resumeParams{}, loose: true, gives: resumeAnswer{}},
	"GET /is_paused": {query: modelParams{}, gives: pausedAnswer{}},
}

// unions are the schemas of types that read themselves, or that may be anything.
var unions = map[reflect.Type]object{
	reflect.TypeFor[jsontext.Value](): {},
	reflect.TypeFor[stops](): {"anyOf": []object{
		{"type": "string", "minLength": 1}, {"type": "array", "maxItems": maxStops, "items": object{"type": "string", "minLength": 1}}}},
	reflect.TypeFor[prompts](): {"anyOf": []object{
		{"type": "string"}, {"type": "array", "minItems": 1, "items": object{"type": "string"}}, tokenList, {"type": "array", "minItems": 1, "items": tokenList}}},
	reflect.TypeFor[content](): {"anyOf": []object{{"type": "string"}, {"type": "array", "items": textPart}}},
	reflect.TypeFor[input]():   {"anyOf": []object{{"type": "string"}, {"type": "array", "minItems": 1, "items": inputItem}}},
}

var (
	tokenList = object{"type": "array", "minItems": 1, "items": object{"type": "integer", "minimum": 0, "maximum": 1<<31 - 1}}
	textPart  = object{"type": "object", "required": []string{"type", "text"},
		"properties": object{"type": object{"enum": []string{"text", "input_text", "output_text"}}, "text": object{"type": "string"}}}
	inputItem = object{"type": "object", "required": []string{"role"}, "properties": object{
		"type": object{"enum": []string{"", "message"}}, "role": object{"type": "string", "minLength": 1},
		"content": object{"anyOf": []object{{"type": "string"}, {"type": "array", "items": textPart}}}}}
)

// variants are the types that fields have whose own type is any.
var variants = map[string]any{
	"completion.usage":             (*usage)(nil),
	"chatCompletion.usage":         (*usage)(nil),
	"completionChoice.stop_reason": jsontext.Value{},
	"chatChoice.stop_reason":       jsontext.Value{},
}

// needed are the fields that a request must have.
var needed = map[string]bool{
	"completionParams.prompt": true, "chatParams.messages": true, "responseParams.input": true, "message.role": true,
	"detokenizeParams.tokens": true,
}

// choices are the names that a parameter may have; "" is as if it were missing.
func choices[V any](names map[string]V) []string {
	list := slices.Sorted(maps.Keys(names))
	if list[0] != "" {
		list = slices.Insert(list, 0, "")
	}
	return list
}

// limited is what the code asks of fields beside their types and bounds.
var limited = map[string]object{
	"completionLogprobs.top_logprobs": {"items": object{"type": []string{"object", "null"}, "additionalProperties": object{"type": "number"}}}, // null: of a prompt's first token

	"completionChoice.stop_reason": {"type": []string{"string", "integer", "null"}},
	"chatChoice.stop_reason":       {"type": []string{"string", "integer", "null"}},

	"completionParams.suffix":             {"maxLength": 0},
	"params.logit_bias":                   {"maxProperties": maxBias, "propertyNames": object{"pattern": "^(0|[1-9][0-9]*)$"}, "additionalProperties": object{"type": "number", "minimum": -100, "maximum": 100}},
	"chatParams.max_tokens":               {"minimum": 1},
	"chatParams.messages":                 {"minItems": 1},
	"responseParams.n":                    {"maximum": 1},
	"responseParams.background":           {"const": false},
	"responseParams.previous_response_id": {"maxLength": 0},
	"message.role":                        {"minLength": 1},
	"chatParams.max_completion_tokens":    {"minimum": 1},
	"responseParams.max_output_tokens":    {"minimum": 1},
	"versionParams.kv_policy":             {"enum": choices(kvPolicies)},
	"pauseParams.mode":                    {"enum": choices(pauseModes)},
}

// modelParams are what the address of routes has that take nothing else.
type modelParams struct {
	Model string `json:"model"` // "": the only one there is
}
