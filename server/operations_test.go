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
	events either      // of a stream
	also   map[int]any // with other statuses, but for errors in OpenAI's shape
}

// parametric is an operation whose parameters stand in its address or its body.
func parametric(takes, gives any) operation {
	return operation{takes: takes, query: takes, loose: true, gives: gives}
}

// operations are all routes, by method and path.
var operations = map[string]operation{
	"POST /v1/completions":      {takes: completionParams{}, gives: completion{}, events: either{completion{}, errorBody{}}},
	"POST /v1/chat/completions": {takes: chatParams{}, gives: chatCompletion{}, events: either{chatCompletion{}, errorBody{}}},
	"POST /v1/responses": {takes: responseParams{}, gives: response{},
		events: either{responseEvent{}, itemEvent{}, partEvent{}, deltaEvent{}, textEvent{}, errorEvent{}}},
	"GET /v1/models":         {gives: modelList{}},
	"GET /v1/models/{id...}": {gives: modelObject{}},
	"POST /tokenize":         {takes: tokenizeParams{}, gives: tokenized{}},
	"POST /detokenize":       {takes: detokenizeParams{}, gives: detokenized{}},
	"GET /health":            {gives: condition{}, also: map[int]any{http.StatusServiceUnavailable: condition{}}},
	"GET /ready":             {gives: condition{}, also: map[int]any{http.StatusServiceUnavailable: condition{}}},
	"GET /version":           {gives: programVersion{}},
	"GET /openapi.json":      {gives: map[string]jsontext.Value{}},

	"POST /pause":      parametric(pauseParams{}, pauseAnswer{}),
	"POST /resume":     parametric(resumeParams{}, resumeAnswer{}),
	"GET /is_paused":   {query: modelParams{}, gives: pausedAnswer{}},
	"POST /sleep":      parametric(sleepParams{}, sleepAnswer{}),
	"POST /wake_up":    parametric(memoryParams{}, sleepAnswer{}),
	"GET /is_sleeping": {query: modelParams{}, gives: sleepingAnswer{}},

	"POST /inference/v1/generate": {takes: generateParams{}, gives: generated{}, events: either{generated{}, errorBody{}}},
	"GET /server_info":            {query: modelParams{}, gives: serverInfo{}},
	"GET /get_world_size":         {gives: worldAnswer{}},
	"GET /weight_info":            {query: modelParams{}, gives: weightAnswer{}},
	"POST /abort_requests":        parametric(abortParams{}, abortAnswer{}),
	"POST /update_weight_version": parametric(renameParams{}, renamed{}),
	"POST /reset_prefix_cache":    parametric(resetParams{}, resetAnswer{}),
	"POST /reset_mm_cache":        {gives: struct{}{}},
	"POST /reset_encoder_cache":   {gives: struct{}{}},

	"POST /generate":                  {takes: sglangParams{}, gives: either{sglangAnswer{}, []sglangAnswer{}}, events: either{sglangAnswer{}, errorBody{}}},
	"GET /health_generate":            {gives: condition{}, also: map[int]any{http.StatusServiceUnavailable: either{condition{}, errorBody{}}}},
	"GET /get_server_info":            {query: modelParams{}, gives: serverInfo{}},
	"GET /model_info":                 {query: modelParams{}, gives: sglangModel{}},
	"GET /get_model_info":             {query: modelParams{}, gives: sglangModel{}},
	"GET /get_weight_version":         {query: modelParams{}, gives: weightAnswer{}},
	"GET /v1/loads":                   {query: loadsParams{}, gives: loadList{}},
	"POST /pause_generation":          parametric(sglangPauseParams{}, sglangStatus{}),
	"POST /continue_generation":       parametric(modelParams{}, sglangStatus{}),
	"GET /flush_cache":                {query: flushParams{}, gives: sglangDone{}, also: map[int]any{http.StatusBadRequest: either{sglangDone{}, errorBody{}}}},
	"POST /flush_cache":               {takes: flushParams{}, query: flushParams{}, loose: true, gives: sglangDone{}, also: map[int]any{http.StatusBadRequest: either{sglangDone{}, errorBody{}}}},
	"POST /abort_request":             parametric(sglangAbortParams{}, struct{}{}),
	"GET /release_memory_occupation":  {query: memoryParams{}, gives: sleepAnswer{}},
	"POST /release_memory_occupation": parametric(memoryParams{}, sleepAnswer{}),
	"GET /resume_memory_occupation":   {query: memoryParams{}, gives: sleepAnswer{}},
	"POST /resume_memory_occupation":  parametric(memoryParams{}, sleepAnswer{}),
}

// loadsParams are what the address of GET /v1/loads may have.
type loadsParams struct {
	Model  string `json:"model"`
	Format string `json:"format"`
}

// unions are the schemas of types that read themselves, or that may be anything.
var unions = map[reflect.Type]object{
	reflect.TypeFor[jsontext.Value](): {},
	reflect.TypeFor[idLists]():        {"anyOf": []object{tokenList, {"type": "array", "minItems": 1, "items": tokenList}}},
	reflect.TypeFor[sglangLogprob](): {"type": "array", "minItems": 3, "maxItems": 3,
		"prefixItems": []object{{"type": []string{"number", "null"}}, {"type": "integer"}, {"type": []string{"string", "null"}}}},
	reflect.TypeFor[tool]():       {"anyOf": []object{toolWithin, toolBeside}},
	reflect.TypeFor[toolChoice](): {"anyOf": []object{{"enum": []string{"none", "auto", "required"}}, choiceWithin, choiceBeside}},
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

// A function stands within an object, or beside its type.
var (
	functionFields = object{"name": object{"type": "string", "minLength": 1}, "description": object{"type": "string"},
		"parameters": object{"description": "A JSON schema."}, "strict": object{"type": []string{"boolean", "null"}}}
	isFunction   = object{"const": "function"}
	toolWithin   = object{"type": "object", "required": []string{"type", "function"}, "properties": object{"type": isFunction, "function": object{"type": "object", "required": []string{"name"}, "properties": functionFields}}}
	toolBeside   = object{"allOf": []object{{"type": "object", "required": []string{"type", "name"}, "properties": object{"type": isFunction}}, {"properties": functionFields}}}
	choiceWithin = object{"type": "object", "required": []string{"type", "function"}, "properties": object{"type": isFunction, "function": object{"type": "object", "required": []string{"name"}, "properties": object{"name": object{"type": "string"}}}}}
	choiceBeside = object{"type": "object", "required": []string{"type", "name"}, "properties": object{"type": isFunction, "name": object{"type": "string"}}}
)

// variants are the types that fields have whose own type is any.
var variants = map[string]any{
	"completion.usage":         either{usage{}, nil},
	"chatCompletion.usage":     either{usage{}, nil},
	"generated.usage":          either{usage{}, nil},
	"generatedChoice.logprobs": either{idLogprobs{}, chatLogprobs{}, nil},
}

// needed are the fields that a request must have.
var needed = map[string]bool{
	"completionParams.prompt": true, "chatParams.messages": true, "responseParams.input": true, "message.role": true,
	"detokenizeParams.tokens": true, "generateParams.token_ids": true,
}

// choices are the names that a parameter may have; "" is as if it were missing.
func choices[V any](names map[string]V) []string {
	list := slices.Sorted(maps.Keys(names))
	if list[0] != "" {
		list = slices.Insert(list, 0, "")
	}
	return list
}

// stopReason is the string, or the token, that ended a text.
var stopReason = object{"type": []string{"string", "integer", "null"}}

// never is a field that is refused whatever it has, as it is known to change what is asked for.
var never = object{"type": "null", "description": "Not supported."}

// refusedBeside are fields that no struct has and that are refused, with what to do instead.
var refusedBeside = map[string]map[string]string{"sglangParams": sglangRefused, "sglangSampling": sglangSamplingRefused}

// limited is what the code asks of fields beside their types and bounds.
var limited = map[string]object{
	"completionLogprobs.top_logprobs": {"items": object{"type": []string{"object", "null"}, "additionalProperties": object{"type": "number"}}}, // null: of a prompt's first token

	"completionChoice.stop_reason":  stopReason,
	"chatChoice.stop_reason":        stopReason,
	"generatedChoice.stop_reason":   stopReason,
	"sglangFinish.matched":          {"type": []string{"string", "integer"}},
	"sglangMeta.input_top_logprobs": {"items": object{"anyOf": []object{{"type": "null"}, {"type": "array", "items": unions[reflect.TypeFor[sglangLogprob]()]}}}},

	"completionParams.suffix":             {"maxLength": 0},
	"params.logit_bias":                   {"maxProperties": maxBias, "propertyNames": object{"pattern": "^(0|[1-9][0-9]*)$"}, "additionalProperties": object{"type": []string{"number", "null"}, "minimum": -100, "maximum": 100}},
	"chatParams.max_tokens":               {"minimum": 1},
	"chatParams.messages":                 {"minItems": 1},
	"responseParams.n":                    {"maximum": 1},
	"responseParams.background":           {"const": false},
	"responseParams.previous_response_id": {"maxLength": 0},
	"message.role":                        {"minLength": 1},
	"sleepParams.mode":                    {"enum": choices(pauseModes)},
	"sleepParams.level":                   {"minimum": 0, "maximum": 2},
	"sleepParams.tags":                    {"items": object{"enum": []string{"kv_cache", "weights", "scheduling"}}},
	"memoryParams.tags":                   {"items": object{"enum": []string{"kv_cache", "weights", "scheduling", "cuda_graph"}}},
	"sglangPauseParams.mode":              {"enum": choices(sglangModes)},
	"flushParams.timeout":                 {"minimum": 0},
	"renameParams.new_version":            {"minLength": 1, "maxLength": maxLabel},

	"toolParams.functions": never, "toolParams.function_call": never, "formatParams.guided_grammar": never, "responseParams.tools": never,
	"structuredOutputs.grammar": never, "structuredOutputs.structural_tag": never, "structuredOutputs.whitespace_pattern": never,
	"generateParams.features": never, "generateParams.content_parts": never, "generateParams.kv_transfer_params": never, "generateParams.ec_transfer_params": never,
	"drawParams.prompt_logprobs": never, "drawParams.prompt_logprob_token_ids": never, "drawParams.logprob_token_ids": never, "drawParams.trace_decode_token_ids": never,
	"drawParams.repetition_detection": never, "drawParams.thinking_token_budget": never, "drawParams.structured_outputs": never,
	"drawParams.skip_reading_prefix_cache": {"const": false}, "drawParams.watermarking": {"const": false},
	"loadsParams.format":               {"enum": []string{"", "json"}},
	"generateParams.output_mode":       {"enum": []string{"", "tokens", "text"}},
	"chatParams.max_completion_tokens": {"minimum": 1},
	"responseParams.max_output_tokens": {"minimum": 1},
	"versionParams.kv_policy":          {"enum": choices(kvPolicies)},
	"pauseParams.mode":                 {"enum": choices(pauseModes)},
}
