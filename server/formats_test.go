package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cbactor/cbactor/engine"
)

// pet is a schema as clients give it.
var pet = object{"type": "object", "properties": object{"name": object{"type": "string", "minLength": 1, "maxLength": 12}, "age": object{"type": "integer", "minimum": 1, "maximum": 30},
	"likes": object{"type": "array", "items": object{"enum": []string{"cats", "dogs", "birds"}}, "maxItems": 3}}, "required": []string{"name", "age", "likes"}, "additionalProperties": false}

// isJSON says whether a text is an object by a schema; nil: any.
func isJSON(t *testing.T, schema any) func(text string) error {
	t.Helper()
	var compiled *jsonschema.Schema
	if schema != nil {
		var plain any
		if err := json.Unmarshal(mustJSON(t, schema), &plain); err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("schema.json", plain); err != nil {
			t.Fatal(err)
		}
		var err error
		if compiled, err = c.Compile("schema.json"); err != nil {
			t.Fatal(err)
		}
	}
	return func(text string) error {
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		if compiled == nil {
			return nil
		}
		return compiled.Validate(v)
	}
}

// matches says whether a text is all of a regular expression.
func matches(e string) func(string) error {
	whole := regexp.MustCompile("^(?:" + e + ")$")
	return func(text string) error {
		if !whole.MatchString(text) {
			return fmt.Errorf("does not match %s", e)
		}
		return nil
	}
}

// Whatever format is asked for, in whoever's words, every text that has ended has it.
func TestFormats(t *testing.T) {
	t.Parallel()
	r := serveTiny(t, engine.Config{}, Options{})
	aPet, code, word := isJSON(t, pet), matches("[a-f]{2}-[0-9]{1,4}"), matches("yes|no|maybe")
	closing := object{fmt.Sprint(r.codec.EncodeRaw("}")[0]): 9, fmt.Sprint(r.codec.EncodeRaw("\"")[0]): 9}
	for name, c := range map[string]struct {
		with object
		is   func(string) error
	}{
		"json_schema":        {object{"response_format": object{"type": "json_schema", "json_schema": object{"name": "pet", "description": "a pet", "strict": true, "schema": pet}}}, aPet},
		"json":               {object{"structured_outputs": object{"json": pet}}, aPet},
		"json as a string":   {object{"structured_outputs": object{"json": string(mustJSON(t, pet))}}, aPet},
		"regex":              {object{"structured_outputs": object{"regex": "[a-f]{2}-[0-9]{1,4}"}}, code},
		"choice":             {object{"structured_outputs": object{"choice": []string{"yes", "no", "maybe"}}}, word},
		"guided_json":        {object{"guided_json": pet}, aPet},
		"guided_regex":       {object{"guided_regex": "[a-f]{2}-[0-9]{1,4}"}, code},
		"guided_choice":      {object{"guided_choice": []string{"yes", "no", "maybe"}, "response_format": object{"type": "text"}}, word},
		"json_object":        {object{"response_format": object{"type": "json_object"}, "logit_bias": closing}, isJSON(t, nil)},
		"vLLM's json_object": {object{"structured_outputs": object{"json_object": true}, "stop": nil, "logit_bias": closing}, isJSON(t, nil)},
		"ends by an id":      {object{"guided_choice": []string{"yes", "no", "maybe"}, "ignore_eos": true, "stop_token_ids": []int{5}}, word},
	} {
		for path, body := range map[string]object{
			chatPath:        {"messages": say("A pet?"), "n": 3, "seed": 5, "max_tokens": 400},
			completionsPath: {"prompt": []string{"A pet: ", "An animal: "}, "n": 2, "seed": 5, "max_tokens": 400},
		} {
			for k, v := range c.with {
				body[k] = v
			}
			whole, streamed := r.ask(path, body), r.streamed(path, body)
			for i, choice := range whole.Choices {
				text := choice.Text + choice.Message.Content
				if err := c.is(text); err != nil || choice.FinishReason != "stop" {
					t.Errorf("%s, %s: %s %q: %v", name, path, choice.FinishReason, text, err)
				}
				if other := streamed.Choices[i]; other.Text+other.Message.Content != text || other.FinishReason != "stop" {
					t.Errorf("%s, %s: %q, streamed %q", name, path, text, other.Text+other.Message.Content)
				}
			}
		}
	}
	r.resting()
}

// What is wrong with a format is refused, by the name of its parameter.
func TestFormatsRefused(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for more, want := range map[string][2]string{
		`"response_format":5`:                                                                {"response_format", "invalid_value"},
		`"response_format":{}`:                                                               {"response_format", "invalid_value"},
		`"response_format":{"type":"structural_tag"}`:                                        {"response_format", "invalid_value"},
		`"response_format":{"type":"json_schema"}`:                                           {"response_format.json_schema", "invalid_value"},
		`"response_format":{"type":"json_schema","json_schema":{"name":"a"}}`:                {"response_format.json_schema.schema", "invalid_value"},
		`"response_format":{"type":"json_schema","json_schema":{"schema":"a"}}`:              {"response_format.json_schema.schema", "invalid_value"},
		`"response_format":{"type":"json_schema","json_schema":{"name":5}}`:                  {"response_format.json_schema.name", "invalid_value"},
		`"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"thing"}}}`: {"response_format", "bad_grammar"},
		`"response_format":{"type":"json_schema","json_schema":{"schema":{"not":{}}}}`:       {"response_format", "grammar_not_supported"},
		`"response_format":{"type":"json_schema","json_schema":{"schema":{"$ref":"#"}}}`:     {"response_format", "grammar_without_texts"},
		`"response_format":{"type":"json_object"},"guided_regex":"a"`:                        {"guided_regex", "invalid_value"},
		`"response_format":{"type":"json_object"},"min_tokens":5`:                            {"min_tokens", "invalid_value"},
		`"response_format":{"type":"json_object"},"ignore_eos":true`:                         {"ignore_eos", "invalid_value"},
		`"structured_outputs":{}`:                                                            {"structured_outputs", "invalid_value"},
		`"structured_outputs":{"regex":"a","choice":["a"]}`:                                  {"structured_outputs.choice", "invalid_value"},
		`"structured_outputs":{"regex":5}`:                                                   {"structured_outputs.regex", "invalid_value"},
		`"structured_outputs":{"regex":""}`:                                                  {"structured_outputs.regex", "invalid_value"},
		`"structured_outputs":{"regex":"("}`:                                                 {"structured_outputs.regex", "bad_grammar"},
		`"structured_outputs":{"regex":"\\bword"}`:                                           {"structured_outputs.regex", "grammar_not_supported"},
		`"structured_outputs":{"choice":[]}`:                                                 {"structured_outputs.choice", "bad_grammar"},
		`"structured_outputs":{"json":"{"}`:                                                  {"structured_outputs.json", "bad_grammar"},
		`"structured_outputs":{"grammar":"root ::= a"}`:                                      {"structured_outputs.grammar", "invalid_value"},
		`"structured_outputs":{"regex":"a","structural_tag":"{}"}`:                           {"structured_outputs.structural_tag", "invalid_value"},
		`"structured_outputs":{"regex":"a","whitespace_pattern":" "}`:                        {"structured_outputs.whitespace_pattern", "invalid_value"},
		`"guided_grammar":"root ::= a"`:                                                      {"guided_grammar", "invalid_value"},
		`"guided_choice":"a"`:                                                                {"guided_choice", "invalid_value"},
		`"guided_json":{"type":"string"},"guided_choice":["a"]`:                              {"guided_choice", "invalid_value"},
	} {
		r.refused(completionsPath, `{"prompt":"a",`+more+`}`, 400, want[0], want[1])
		r.refused(chatPath, `{"messages":[{"role":"user","content":"a"}],`+more+`}`, 400, want[0], want[1])
	}
	// A ban of all that could end a text is found when it must.
	ended := object{"prompt": "a", "guided_choice": []string{"a"}, "bad_words": []string{}, "allowed_token_ids": r.codec.EncodeRaw("a")}
	r.refused(completionsPath, ended, 400, "guided_choice", "grammar_complete")
	events := r.events(completionsPath, ended)
	if last := events[len(events)-1].Error; last == nil || value(last.Code) != "grammar_complete" || value(last.Param) != "guided_choice" {
		t.Errorf("streamed: %+v", events)
	}
}

// K5: what is made to exhaust a compiler is refused soon, and streams lose nothing by it.
func TestReportK5HostileFormats(t *testing.T) {
	t.Parallel()
	r := serveTiny(t, engine.Config{}, Options{})
	body := object{"prompt": "Once upon a time", "temperature": 0, "max_tokens": 900, "ignore_eos": true, "return_token_ids": true}
	want := r.ask(completionsPath, body)
	body["stream"] = true
	stream := r.open(t.Context(), completionsPath, body)
	defer drop(t, stream)
	r.ask(completionsPath, object{"prompt": "a", "guided_choice": []string{"a"}}) // the vocabulary is known
	format := func(key, v string) string { return fmt.Sprintf(`{"prompt":"a","structured_outputs":{%q:%s}}`, key, v) }
	chain := `{"$ref":"#/$defs/r0","$defs":{`
	for i := range 5000 {
		chain += fmt.Sprintf(`"r%d":{"$ref":"#/$defs/r%d"},`, i, i+1)
	}
	chain += `"r5000":{"type":"null"}}}`
	for name, c := range map[string]struct{ body, param, code string }{
		"60,000 nested groups":        {format("regex", `"`+strings.Repeat("(", 60_000)+strings.Repeat(")", 60_000)+`"`), "structured_outputs.regex", "grammar_too_large"},
		"in a pattern of a schema":    {format("json", `{"type":"string","pattern":"`+strings.Repeat("(", 60_000)+strings.Repeat(")", 60_000)+`"}`), "structured_outputs.json", "grammar_too_large"},
		"references in a circle":      {format("json", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`), "structured_outputs.json", "grammar_without_texts"},
		"nested repetitions":          {format("regex", `"(a{1,1000}){1,1000}"`), "structured_outputs.regex", "grammar_too_large"},
		"nothing to repeat":           {format("regex", `"*a"`), "structured_outputs.regex", "bad_grammar"},
		"5,000 rules in a chain":      {format("json", chain), "structured_outputs.json", "grammar_too_large"},
		"5,000 nested schemas":        {format("json", strings.Repeat(`{"items":`, 5000)+"{}"+strings.Repeat("}", 5000)), "", "invalid_json"},
		"nested in a string":          {format("json", string(mustJSON(t, strings.Repeat(`{"items":`, 5000)+"{}"+strings.Repeat("}", 5000)))), "structured_outputs.json", "grammar_too_large"},
		"a schema of all that may be": {format("json", `{"title":"`+strings.Repeat("a", 1<<20)+`"}`), "structured_outputs.json", "grammar_too_large"},
	} {
		took := time.Hour
		for try := 0; try < 5 && took > 100*time.Millisecond; try++ { // other programs run beside this one
			began := time.Now()
			r.refused(completionsPath, c.body, http.StatusBadRequest, c.param, c.code)
			took = time.Since(began)
		}
		if took > 100*time.Millisecond && !raced {
			t.Errorf("%s: after %v", name, took)
		}
	}
	if got := r.joined(r.tell(r.list(stream.Body))); !reflect.DeepEqual(got.Choices, want.Choices) {
		t.Errorf("beside it %+v, alone %+v", got.Choices, want.Choices)
	}
}
