package server

import (
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// Null is as if a key were not there, and no token and no text in a list of them.
func TestNulls(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	for path, bodies := range map[string]map[string]string{
		completionsPath: {
			`{"prompt":[null]}`: "prompt", `{"prompt":[5,null]}`: "prompt", `{"prompt":[[5],[null]]}`: "prompt", `{"prompt":["a",null]}`: "prompt", `{"prompt":["a"],"stop":[null]}`: "stop",
			`{"prompt":[5],"allowed_token_ids":[5,null]}`: "allowed_token_ids.1", `{"prompt":[5],"stop_token_ids":[null]}`: "stop_token_ids.0", `{"prompt":[5],"bad_words":[null]}`: "bad_words.0",
		},
		"/detokenize":            {`{"tokens":[null]}`: "tokens.0"},
		"/inference/v1/generate": {`{"token_ids":[1,null]}`: "token_ids.1"},
		sglangPath:               {`{"input_ids":[null]}`: "input_ids"},
	} {
		for body, param := range bodies {
			r.refused(path, body, 400, param, "invalid_value")
		}
	}
	r.refused("/detokenize", "null", 400, "", "invalid_json")
	r.refused("/detokenize", "{}", 400, "tokens", "invalid_value")
	a := r.ask(completionsPath, `{"prompt":[5],"model":null,"n":null,"max_tokens":1,"stop":null,"allowed_token_ids":null,"logit_bias":{"5":null},"echo":null}`)
	if len(a.Choices) != 1 || a.Usage.Completion != 1 {
		t.Errorf("%+v", a)
	}
}
