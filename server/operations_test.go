package server

import (
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/checkpoint"
)

// operation is what a route takes and answers with, as values of the structs.
type operation struct {
	takes  any         // its body; nil: none
	query  any         // what its address may have, as fields
	loose  bool        // the body may be missing
	sends  object      // its body where that is no JSON: schemas by media type
	gives  any         // with 200; nil: never
	page   string      // or the media type of a text
	events either      // of a stream
	also   map[int]any // with other statuses; nil: nothing
	fails  any         // in the place of most errors in OpenAI's shape
}

// parametric is an operation whose parameters stand in its address or its body.
func parametric(takes, gives any) operation {
	return operation{takes: takes, query: takes, loose: true, gives: gives}
}

// sglangs is one that fails as SGLang's do.
func sglangs(takes, gives any) operation {
	op := parametric(takes, gives)
	op.fails = sglangDone{}
	return op
}

// adapterForm is the body that has an adapter's files.
var adapterForm = object{"type": "object", "required": checkpoint.AdapterFiles, "properties": object{
	checkpoint.AdapterFiles[0]: object{"contentMediaType": "application/octet-stream"}, checkpoint.AdapterFiles[1]: object{"contentMediaType": "application/octet-stream"}}}

// operations are all routes, by method and path.
var operations = map[string]operation{
	"POST /v1/completions":      {takes: completionParams{}, gives: completion{}, events: either{completion{}, errorBody{}}},
	"POST /v1/chat/completions": {takes: chatParams{}, gives: chatCompletion{}, events: either{chatCompletion{}, errorBody{}}},
	"POST /v1/responses": {takes: responseParams{}, gives: response{},
		events: either{responseEvent{}, itemEvent{}, partEvent{}, deltaEvent{}, textEvent{}, argumentsDeltaEvent{}, argumentsEvent{}, errorEvent{}}},
	"GET /v1/models":         {gives: modelList{}},
	"GET /v1/models/{id...}": {gives: modelObject{}},
	"POST /tokenize":         {takes: tokenizeParams{}, gives: tokenized{}},
	"POST /detokenize":       {takes: detokenizeParams{}, gives: detokenized{}},
	"GET /health":            {gives: condition{}, also: map[int]any{http.StatusServiceUnavailable: condition{}}},
	"GET /ready":             {gives: condition{}, also: map[int]any{http.StatusServiceUnavailable: condition{}}},
	"GET /version":           {gives: programVersion{}},
	"GET /metrics":           {page: "text/plain"},
	"GET /openapi.json":      {gives: map[string]jsontext.Value{}},

	"POST /pause":      parametric(pauseParams{}, pauseAnswer{}),
	"POST /resume":     parametric(resumeParams{}, resumeAnswer{}),
	"GET /is_paused":   {query: modelParams{}, gives: pausedAnswer{}},
	"POST /sleep":      parametric(sleepParams{}, sleepAnswer{}),
	"POST /wake_up":    parametric(memoryParams{}, sleepAnswer{}),
	"GET /is_sleeping": {query: modelParams{}, gives: sleepingAnswer{}},

	"GET /v1/weights":                               {query: modelParams{}, gives: weightsAnswer{}},
	"POST /v1/weights/updates":                      {takes: updateParams{}, query: modelParams{}, also: map[int]any{http.StatusCreated: updateBegun{}}},
	"GET /v1/weights/updates/{id}":                  {query: modelParams{}, gives: updateTold{}},
	"DELETE /v1/weights/updates/{id}":               {query: modelParams{}, gives: statusAnswer{}},
	"PUT /v1/weights/updates/{id}/shards/{name...}": {query: modelParams{}, sends: object{"application/octet-stream": object{"description": "Safetensors."}}, gives: shardTold{}},
	"POST /v1/weights/updates/{id}/files":           {takes: filesParams{}, query: modelParams{}, gives: shardTold{}},
	"POST /v1/weights/updates/{id}/commit":          {query: modelParams{}, gives: versionTold{}},
	"POST /v1/weights/load":                         parametric(loadParams{}, versionTold{}),
	"POST /v1/weights/rollback":                     parametric(rollbackParams{}, versionTold{}),
	"GET /v1/weights/checksum":                      {query: checksumParams{}, gives: checksumAnswer{}},
	"GET /v1/weights/changes":                       {query: changesParams{}, gives: versionTold{}, also: map[int]any{http.StatusNoContent: nil}},
	"GET /v1/adapters":                              {query: modelParams{}, gives: adapterList{}},
	"POST /v1/adapters":                             {takes: adapterParams{}, query: adapterParams{}, loose: true, also: map[int]any{http.StatusCreated: adapterTold{}}},
	"PUT /v1/adapters/{name...}":                    {query: modelParams{}, sends: object{"multipart/form-data": adapterForm}, also: map[int]any{http.StatusCreated: adapterTold{}}},
	"DELETE /v1/adapters/{name...}":                 {query: modelParams{}, gives: statusAnswer{}},

	"POST /weight_checker": {takes: checkParams{}, query: checkParams{}, loose: true, gives: either{checksums{}, comparison{}}},

	"POST /update_weights_from_disk":        sglangs(diskUpdate{}, diskUpdated{}),
	"POST /begin_weight_update":             {gives: sglangDone{}},
	"POST /end_weight_update":               {gives: sglangDone{}},
	"GET /weights_checker":                  {query: sglangCheckParams{}, gives: sglangChecked{}, fails: sglangDone{}},
	"POST /weights_checker":                 sglangs(sglangCheckParams{}, sglangChecked{}),
	"POST /load_lora_adapter":               {takes: loraParams{}, query: loraParams{}, loose: true, gives: loraAnswer{}, fails: loraAnswer{}},
	"POST /unload_lora_adapter":             {takes: loraParams{}, query: loraParams{}, loose: true, gives: loraAnswer{}, fails: loraAnswer{}},
	"POST /load_lora_adapter_from_tensors":  {fails: sglangDone{}},
	"GET /get_weights_by_name":              {fails: sglangDone{}},
	"POST /get_weights_by_name":             {fails: sglangDone{}},
	"POST /update_weights_from_tensor":      {fails: sglangDone{}},
	"POST /update_weights_from_distributed": {fails: sglangDone{}},
	"POST /update_weights_from_ipc":         {fails: sglangDone{}},
	"POST /init_weights_update_group":       {fails: sglangDone{}},
	"POST /destroy_weights_update_group":    {fails: sglangDone{}},

	"POST /inference/v1/generate": {takes: generateParams{}, gives: generated{}, events: either{generated{}, errorBody{}}},
	"GET /server_info":            {query: modelParams{}, gives: serverInfo{}},
	"GET /get_world_size":         {gives: worldAnswer{}},
	"GET /weight_info":            {query: modelParams{}, gives: weightAnswer{}},
	"POST /abort_requests":        parametric(abortParams{}, abortAnswer{}),
	"POST /update_weight_version": parametric(renameParams{}, renamed{}),
	"POST /reset_prefix_cache":    parametric(resetParams{}, resetAnswer{}),
	"POST /reset_mm_cache":        {gives: struct{}{}},
	"POST /reset_encoder_cache":   {gives: struct{}{}},

	"POST /v1/load_lora_adapter":              parametric(vllmAdapterParams{}, vllmDone{}),
	"POST /v1/unload_lora_adapter":            parametric(vllmAdapterParams{}, vllmDone{}),
	"POST /init_weight_transfer_engine":       parametric(vllmWeightParams{}, vllmDone{}),
	"POST /shutdown_weight_transfer_engine":   parametric(vllmWeightParams{}, vllmDone{}),
	"POST /start_weight_update":               parametric(vllmWeightParams{}, vllmDone{}),
	"POST /update_weights":                    parametric(vllmWeightParams{}, vllmDone{}),
	"POST /finish_weight_update":              parametric(vllmWeightParams{}, vllmDone{}),
	"POST /areal_pause_generation":            parametric(modelParams{}, sglangDone{}),
	"POST /areal_continue_generation":         parametric(modelParams{}, sglangDone{}),
	"POST /areal_update_weights":              parametric(arealParams{}, sglangDone{}),
	"POST /start_draft_weight_update":         {},
	"POST /collective_rpc":                    {},
	"POST /init_broadcaster":                  {},
	"POST /areal_update_weights_lora":         {},
	"POST /areal_init_weights_update_group":   {},
	"POST /areal_set_update_weight_meta":      {},
	"POST /areal_set_update_weight_meta_lora": {},
	"POST /areal_update_weights_xccl":         {},
	"POST /areal_update_weights_lora_xccl":    {},

	"POST /generate":                  {takes: sglangParams{}, gives: either{sglangAnswer{}, []sglangAnswer{}}, events: either{sglangAnswer{}, errorBody{}}},
	"GET /health_generate":            {gives: condition{}, also: map[int]any{http.StatusServiceUnavailable: either{condition{}, errorBody{}}}},
	"GET /get_server_info":            {query: modelParams{}, gives: serverInfo{}},
	"GET /model_info":                 {query: modelParams{}, gives: sglangModel{}},
	"GET /get_model_info":             {query: modelParams{}, gives: sglangModel{}},
	"GET /get_weight_version":         {query: modelParams{}, gives: weightAnswer{}},
	"GET /v1/loads":                   {query: loadsParams{}, gives: loadList{}},
	"POST /pause_generation":          parametric(sglangPauseParams{}, sglangState{}),
	"POST /continue_generation":       parametric(modelParams{}, sglangState{}),
	"GET /flush_cache":                {query: flushParams{}, gives: sglangDone{}, fails: sglangDone{}},
	"POST /flush_cache":               sglangs(flushParams{}, sglangDone{}),
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
}

var (
	tokenList = object{"type": "array", "minItems": 1, "items": object{"type": "integer", "minimum": 0, "maximum": 1<<31 - 1}}
	textPart  = object{"type": "object", "required": []string{"type", "text"},
		"properties": object{"type": object{"enum": []string{"text", "input_text", "output_text"}}, "text": object{"type": "string"}}}
)

// instead are the types that others read themselves as.
var instead = map[reflect.Type]either{reflect.TypeFor[input](): {"", []inputItem{}}}

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
	"updateParams.version": true, "updateParams.manifest": true, "manifestParams.tensors": true, "entryParams.name": true, "entryParams.dtype": true, "filesParams.paths": true,
}

// choices are the names that a parameter may have; "" is as if it were missing.
func choices[V any](names map[string]V) []string {
	list := slices.Sorted(maps.Keys(names))
	if list[0] != "" {
		list = slices.Insert(list, 0, "")
	}
	return list
}

// settledVariables are those of chat templates that a request cannot have.
var settledVariables = []string{"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token",
	"chat_template", "continue_final_message", "conversation", "tokenize"}

// stopReason is the string, or the token, that ended a text.
var stopReason = object{"type": []string{"string", "integer", "null"}}

// never is a field that is refused whatever it has, as it is known to change what is asked for.
var never = object{"type": "null", "description": "Not supported."}

// refusedBeside are fields that no struct has and that are refused, with what to do instead.
var refusedBeside = map[string]map[string]string{"sglangParams": sglangRefused, "sglangSampling": sglangSamplingRefused, "generateParams": vllmRefused, "drawParams": vllmRefused,
	"completionParams": openaiRefused, "chatParams": with(openaiRefused, chatRefused), "responseParams": with(openaiRefused, chatRefused), "tokenizeParams": with(openaiRefused, chatRefused)}

func with[V any](table, more map[string]V) map[string]V {
	made := maps.Clone(table)
	maps.Copy(made, more)
	return made
}

// limited is what the code asks of fields beside their types and bounds.
var limited = map[string]object{
	"completionLogprobs.top_logprobs": {"items": object{"type": []string{"object", "null"}, "additionalProperties": object{"type": "number"}}}, // null: of a prompt's first token

	"completionChoice.stop_reason":  stopReason,
	"chatChoice.stop_reason":        stopReason,
	"generatedChoice.stop_reason":   stopReason,
	"sglangFinish.matched":          {"type": []string{"string", "integer"}},
	"sglangMeta.input_top_logprobs": {"items": object{"anyOf": []object{{"type": "null"}, {"type": "array", "items": unions[reflect.TypeFor[sglangLogprob]()]}}}},

	"completionParams.suffix":             {"maxLength": 0},
	"completionParams.add_special_tokens": {"const": true},
	"unmetParams.skip_special_tokens":     {"const": true},
	"layoutParams.chat_template_kwargs":   {"propertyNames": object{"not": object{"enum": settledVariables}}},
	"layoutParams.reasoning_effort":       {"enum": append([]string{""}, efforts...)},
	"chatUnmet.modalities":                {"items": object{"const": "text"}, "maxItems": 1},
	"chatUnmet.web_search_options":        never,
	"params.logit_bias":                   {"maxProperties": maxBias, "propertyNames": object{"pattern": "^(0|[1-9][0-9]*)$"}, "additionalProperties": object{"type": []string{"number", "null"}, "minimum": -100, "maximum": 100}},
	"params.stop_token_ids":               {"items": object{"type": "integer", "minimum": 0, "maximum": math.MaxInt32}},
	"sglangSampling.stop_token_ids":       {"items": object{"type": []string{"integer", "null"}, "minimum": 0, "maximum": math.MaxInt32}},
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

	"toolParams.functions": never, "toolParams.function_call": never, "formatParams.guided_grammar": never,
	"structuredOutputs.grammar": never, "structuredOutputs.structural_tag": never, "structuredOutputs.whitespace_pattern": never,
	"loraAnswer.loaded_adapters":     {"type": []string{"object", "null"}}, // null: of a model that is not there
	"response.tool_choice":           {"type": []string{"string", "object"}},
	"inputItem.type":                 {"enum": []string{"", "message", "function_call", "function_call_output"}},
	"rollbackParams.kv_policy":       {"enum": choices(kvPolicies)},
	"arealParams.load_format":        {"enum": diskFormats},
	"vllmAdapterParams.load_inplace": {"const": false}, "vllmAdapterParams.is_3d_lora_weight": {"const": false},
	"drawParams.max_tokens":              {"minimum": 1},
	"updateParams.kv_policy":             {"enum": choices(kvPolicies)},
	"loadParams.kv_policy":               {"enum": choices(kvPolicies)},
	"changesParams.timeout":              {"minimum": 0, "maximum": maxChanges.Seconds()},
	"checksumParams.kind":                {"enum": []string{"", "sha256", "xxh3-64", "xxh3-128"}},
	"filesParams.paths":                  {"minItems": 1},
	"manifestParams.tensors":             {"minItems": 1},
	"checkParams.action":                 {"enum": []string{"checksum", "compare"}},
	"sglangCheckParams.action":           {"enum": []string{"", "checksum"}},
	"sglangCheckParams.selector":         {"not": object{"const": "draft"}},
	"sglangCheckParams.skip_tensor_list": {"maxItems": 0},
	"diskUpdate.load_format":             {"enum": diskFormats},
	"diskUpdate.weight_version":          {"maxLength": maxLabel},
	"diskUpdate.manifest":                never,
	"loadsParams.format":                 {"enum": []string{"", "json"}},
	"generateParams.output_mode":         {"enum": []string{"", "tokens", "text"}},
	"chatParams.max_completion_tokens":   {"minimum": 1},
	"responseParams.max_output_tokens":   {"minimum": 1},
	"versionParams.kv_policy":            {"enum": choices(kvPolicies)},
	"pauseParams.mode":                   {"enum": choices(pauseModes)},
}
