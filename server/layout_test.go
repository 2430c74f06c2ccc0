package server

import (
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/text"
)

// thinkingTemplate opens answers with a thought unless it is told otherwise, and goes through
// the parts of messages.
const thinkingTemplate = `{% for m in messages %}[{{ m.role }}]{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}({{ p.text }}){% endfor %}{% endif %}{% endfor %}` +
	`{% if add_generation_prompt %}[a]{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}{% endif %}{% if reasoning_effort is defined %}{{ reasoning_effort }}, {{ enable_thinking }}{% endif %}`

// Every route of conversations lays them out as it is asked to.
func TestLayoutsOfConversations(t *testing.T) {
	r := serveCalls(t, thinkingTemplate, &executor.EchoConfig{})
	talk := []object{{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello,"}}
	parts := []object{{"role": "user", "content": []object{{"type": "text", "text": "a"}, {"type": "text", "text": "b"}}}}
	for name, c := range map[string]struct {
		messages []object
		fields   object
		want     string
	}{
		"usual":            {talk, object{}, "[user]Hi[assistant]Hello,[a]"},
		"nulls":            {talk, object{"add_generation_prompt": nil, "continue_final_message": nil, "chat_template_kwargs": nil, "reasoning_effort": nil}, "[user]Hi[assistant]Hello,[a]"},
		"no thinking":      {talk[:1], object{"chat_template_kwargs": object{"enable_thinking": false}}, "[user]Hi[a]<think></think>"},
		"thinking":         {talk[:1], object{"chat_template_kwargs": object{"enable_thinking": true, "unused": object{"a": nil}}}, "[user]Hi[a]"},
		"an effort":        {talk[:1], object{"reasoning_effort": "low"}, "[user]Hi[a]low, True"},
		"no effort":        {talk[:1], object{"reasoning_effort": "none", "chat_template_kwargs": object{}}, "[user]Hi[a]<think></think>none, False"},
		"both":             {talk[:1], object{"reasoning_effort": "none", "chat_template_kwargs": object{"enable_thinking": true}}, "[user]Hi[a]none, True"},
		"another effort":   {talk[:1], object{"reasoning_effort": "none", "chat_template_kwargs": object{"reasoning_effort": "some"}}, "[user]Hi[a]<think></think>some, False"},
		"unopened":         {talk, object{"add_generation_prompt": false}, "[user]Hi[assistant]Hello,"},
		"continued":        {talk, object{"continue_final_message": true}, "[user]Hi[assistant]Hello,"},
		"continued, twice": {talk, object{"continue_final_message": true, "add_generation_prompt": false}, "[user]Hi[assistant]Hello,"},
		"parts":            {parts, object{}, "[user](a)(b)[a]"},
		"continued parts":  {parts, object{"continue_final_message": true}, "[user](a)(b"},
	} {
		var tokens struct{ Tokens []int32 }
		r.into(&tokens, "/tokenize", with(object{"messages": c.messages}, c.fields))
		if got := r.codec.DecodeAll(tokens.Tokens); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if a := r.ask(chatPath, with(object{"messages": c.messages, "max_tokens": 1, "return_token_ids": true}, c.fields)); !slices.Equal(a.PromptIDs, tokens.Tokens) {
			t.Errorf("%s: a chat of %q, want %q", name, r.codec.DecodeAll(a.PromptIDs), c.want)
		}
		var response struct {
			Usage struct {
				Input int `json:"input_tokens"`
			}
		}
		if r.into(&response, "/v1/responses", with(object{"input": c.messages, "max_output_tokens": 1}, c.fields)); response.Usage.Input != len(tokens.Tokens) {
			t.Errorf("%s: a response to %d tokens, want %d", name, response.Usage.Input, len(tokens.Tokens))
		}
	}
}

// What cannot be laid out is refused by the name of its parameter.
func TestLayoutsRefused(t *testing.T) {
	r := serveCalls(t, `{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}`, &executor.EchoConfig{})
	const talk = `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]`
	for _, path := range []string{chatPath, "/tokenize"} {
		r.refused(path, `{`+talk+`,"continue_final_message":true,"add_generation_prompt":true}`, 400, "continue_final_message", "invalid_value")
		r.refused(path, `{`+talk+`,"continue_final_message":true}`, 400, "continue_final_message", "invalid_value") // the template leaves it out
		r.refused(path, `{`+talk+`,"reasoning_effort":"much"}`, 400, "reasoning_effort", "invalid_value")
		r.refused(path, `{`+talk+`,"chat_template_kwargs":[]}`, 400, "chat_template_kwargs", "invalid_value")
		for _, name := range settledVariables {
			if err := text.CheckVariable(name); err == nil {
				t.Errorf("%s may be a variable", name)
			}
			r.refused(path, `{`+talk+`,"chat_template_kwargs":{"`+name+`":1}}`, 400, "chat_template_kwargs", "invalid_value")
		}
	}
	for param, value := range map[string]string{"continue_final_message": "true", "add_generation_prompt": "false", "chat_template_kwargs": `{"a":1}`, "reasoning_effort": `"low"`} {
		r.refused("/tokenize", `{"prompt":"a","`+param+`":`+value+`}`, 400, param, "invalid_value")
	}
}
