package server

import (
	"fmt"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// What would change an answer and is not done is refused by name; the value that changes
// nothing, and what nobody knows, are taken.
func TestUnmetFieldsAreRefused(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	bodies := map[string]string{completionsPath: `"prompt":"a","max_tokens":1`, "/v1/chat/completions": `"messages":[{"role":"user","content":"a"}]`,
		"/v1/responses": `"input":"a"`, "/tokenize": `"messages":[{"role":"user","content":"a"}]`}
	conversations := map[string]string{"modalities": `["text","audio"]`, "web_search_options": "{}", "chat_template": `"a"`}
	for path, body := range bodies {
		fields := map[string]string{"skip_special_tokens": "false", "truncate_prompt_tokens": "3", "prompt_logprobs": "1", "use_beam_search": "true", "grammar": `"a"`, "n_predict": "3", "audio": `{"voice":"a"}`}
		switch path {
		case completionsPath:
			fields["add_special_tokens"], fields["chat_template_kwargs"], fields["continue_final_message"] = "false", `{"enable_thinking":false}`, "true"
		case "/tokenize":
			fields["add_special_tokens"] = "true"
		default:
			fields["add_special_tokens"], fields["echo"] = "true", "true"
		}
		if path != completionsPath {
			for name, value := range conversations {
				fields[name] = value
			}
		}
		for name, value := range fields {
			r.refused(path, fmt.Sprintf(`{%s,%q:%s}`, body, name, value), 400, name, "invalid_value")
		}
	}
	r.ask(completionsPath, `{"prompt":"a","max_tokens":1,"skip_special_tokens":true,"add_special_tokens":true,"use_beam_search":false,"prompt_logprobs":null,
		"grammar":"","audio":null,"spaces_between_special_tokens":false,"nobody_knows":{"a":1}}`)
}
