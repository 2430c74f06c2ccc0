package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/text/tools"
)

// Templates that know tools, in the words of those who made them.
const (
	hermesTemplate = `{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}{% endfor %}</tools>{% endif %}` +
		`{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }} {{ c.function.arguments | tojson }}</tool_call>{% endfor %}{% endfor %}[a]`
	llamaTemplate = `{% if tools %}{"name": f, "parameters": {}}{% for t in tools %}{{ t | tojson }}{% endfor %}{% endif %}` +
		`{% for m in messages %}[{{ 'ipython' if m.role == 'tool' else m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}{{ c | tojson }}{% endfor %}{% endfor %}[a]`
)

// serveCalls serves a model with a chat template: the tiny one, or an echo.
func serveCalls(t *testing.T, template string, ec *executor.EchoConfig) *rig {
	t.Helper()
	model, _ := tinyModel(t)
	model.ChatTemplate = template
	codec, err := text.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	cfg := engine.Config{Checkpoint: model}
	if ec != nil {
		ec.Vocab, ec.Blocks = 2048, 64
		cfg.Executor = executor.NewEcho(*ec)
	}
	r := serve(t, cfg, Options{}, codec, nil)
	r.server.models[0].Calls = tools.Of(template)
	return r
}

// write has the model write an answer, and no other.
func (r *rig) write(answer string) {
	r.server.models[0].Texts = scripted{texts.New(r.engine, r.codec), append(r.codec.EncodeRaw(answer), 0)}
}

// weather and now are functions as clients give them.
var weather = object{"type": "function", "function": object{"name": "weather", "description": "of a place", "parameters": object{"type": "object",
	"properties": object{"place": object{"enum": []string{"Rome", "Oslo"}}, "days": object{"type": "integer", "minimum": 1, "maximum": 9}}, "required": []string{"place", "days"}, "additionalProperties": false}}}
var now = object{"type": "function", "function": object{"name": "now", "parameters": object{"type": "object", "properties": object{}, "additionalProperties": false}}}

// plain is a choice with its calls, without their names, which are random.
func plain(t *testing.T, c toldChoice) toldChoice {
	t.Helper()
	seen := make(map[string]bool)
	c.Message.ToolCalls = slices.Clone(c.Message.ToolCalls)
	for i := range c.Message.ToolCalls {
		call := &c.Message.ToolCalls[i]
		if !strings.HasPrefix(call.ID, "call_") || call.Type != "function" || seen[call.ID] {
			t.Errorf("a call %+v", call)
		}
		seen[call.ID] = true
		call.ID = ""
	}
	return c
}

// What a model writes as calls is told as such, streamed as whole.
func TestCalls(t *testing.T) {
	const one, two = `{"name": "weather", "arguments": {"place": "Rome", "days": 2}}`, `{"name": "now", "arguments": {}}`
	type call struct{ name, arguments string }
	rigs := map[string]*rig{}
	for _, template := range []string{hermesTemplate, llamaTemplate} {
		rigs[template] = serveCalls(t, template, &executor.EchoConfig{})
	}
	rome, noon := call{"weather", `{"place": "Rome", "days": 2}`}, call{"now", "{}"}
	for name, c := range map[string]struct {
		template, answer string
		with             object
		words            string
		calls            []call
		reason           string
	}{
		"words":          {hermesTemplate, "It rains.", nil, "It rains.", nil, "stop"},
		"a call":         {hermesTemplate, "<tool_call>\n" + one + "\n</tool_call>", nil, "", []call{rome}, "tool_calls"},
		"among words":    {hermesTemplate, "Let me see. <tool_call>" + one + "</tool_call>", nil, "Let me see.", []call{rome}, "tool_calls"},
		"two":            {hermesTemplate, "<tool_call>" + one + "</tool_call>\n<tool_call>" + two + "</tool_call>", nil, "", []call{rome, noon}, "tool_calls"},
		"one at most":    {hermesTemplate, "<tool_call>" + one + "</tool_call>\n<tool_call>" + two + "</tool_call>", object{"parallel_tool_calls": false}, "", []call{rome}, "tool_calls"},
		"none":           {hermesTemplate, "<tool_call>" + one + "</tool_call>", object{"tool_choice": "none"}, "<tool_call>" + one + "</tool_call>", nil, "stop"},
		"no call":        {hermesTemplate, "<tool_call>maybe</tool_call>", nil, "<tool_call>maybe</tool_call>", nil, "stop"},
		"half a tag":     {hermesTemplate, "It rains <tool", nil, "It rains <tool", nil, "stop"},
		"no name":        {hermesTemplate, `<tool_call>{"name": "wea`, nil, `<tool_call>{"name": "wea`, nil, "stop"},
		"cut":            {hermesTemplate, "<tool_call>" + one, object{"max_tokens": 30}, "", []call{{"weather", ""}}, "length"},
		"Llama's":        {llamaTemplate, strings.ReplaceAll(one, "arguments", "parameters"), nil, "", []call{rome}, "tool_calls"},
		"Llama's, two":   {llamaTemplate, one + "; " + two, object{"tool_choice": "auto", "parallel_tool_calls": true}, "", []call{rome, noon}, "tool_calls"},
		"Llama's, words": {llamaTemplate, `{"place": "Rome"}`, nil, `{"place": "Rome"}`, nil, "stop"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigs[c.template]
			r.write(c.answer)
			body := object{"messages": say("Will it rain?"), "tools": []object{weather, now}, "max_tokens": 300, "n": 2, "return_token_ids": true}
			for k, v := range c.with {
				body[k] = v
			}
			whole, streamed := r.ask(chatPath, body), r.streamed(chatPath, body)
			for i := range whole.Choices {
				w, s := plain(t, whole.Choices[i]), plain(t, streamed.Choices[i])
				if !reflect.DeepEqual(w, s) {
					t.Errorf("%+v, streamed %+v", w, s)
				}
				var calls []call
				for _, k := range w.Message.ToolCalls {
					calls = append(calls, call{k.Function.Name, k.Function.Arguments})
				}
				if name == "cut" && len(calls) == 1 {
					if !strings.HasPrefix(rome.arguments, calls[0].arguments) {
						t.Errorf("%q", calls[0].arguments)
					}
					calls[0].arguments = ""
				}
				if w.Message.Content != c.words || !slices.Equal(calls, c.calls) || w.FinishReason != c.reason {
					t.Errorf("%q, %v, %s", w.Message.Content, calls, w.FinishReason)
				}
			}
		})
	}
}

// A call is streamed by its name at first, then by its arguments, as they come.
func TestCallsStreamAsTheyCome(t *testing.T) {
	r := serveCalls(t, hermesTemplate, &executor.EchoConfig{Delay: func(*executor.Batch) { time.Sleep(time.Millisecond) }})
	r.write(`<tool_call>{"name": "weather", "arguments": {"place": "Rome", "days": 2}}</tool_call>`)
	most := 0
	for try := 0; try < 5 && most < 5; try++ { // what comes while nobody runs to tell of it comes in one piece
		pieces, role := 0, 0
		for _, e := range r.events(chatPath, object{"messages": say("a"), "tools": []object{weather}, "max_tokens": 300}) {
			d := e.Choices[0].Delta
			if d.Role != "" {
				role++
			}
			for _, c := range d.ToolCalls {
				if first := pieces == 0; first != (c.ID != "") || first != (c.Type != "") || first != (c.Function.Name != "") || c.Index == nil || *c.Index != 0 {
					t.Errorf("a part %+v", c)
				}
				pieces++
			}
		}
		if role != 1 {
			t.Errorf("%d roles", role)
		}
		most = max(most, pieces)
	}
	if most < 5 {
		t.Errorf("%d pieces", most)
	}
	_, _, data := r.post(chatPath, object{"messages": say("a"), "tools": []object{weather}, "max_tokens": 300})
	if !strings.Contains(string(data), `"content":null,"refusal":null,"tool_calls":[{"id":"call_`) {
		t.Errorf("%s", data)
	}
}

// The functions and the calls of a conversation stand in its prompt as the template has them.
func TestCallsInConversations(t *testing.T) {
	r := serveCalls(t, hermesTemplate, &executor.EchoConfig{})
	asked := object{"id": "call_1", "type": "function", "function": object{"name": "weather", "arguments": `{"place":"Rome","days":1}`}}
	messages := []object{{"role": "user", "content": "Will it rain?"}, {"role": "assistant", "content": nil, "tool_calls": []object{asked}}, {"role": "tool", "tool_call_id": "call_1", "content": "rain"}}
	want, err := r.codec.EncodeChatWith([]text.Message{{Role: "user", Content: "Will it rain?"},
		{Role: "assistant", ToolCalls: []text.ToolCall{{ID: "call_1", Name: "weather", Arguments: `{"place":"Rome","days":1}`}}},
		{Role: "tool", ToolCallID: "call_1", Content: "rain"}}, text.ChatOptions{Tools: []json.RawMessage{mustJSON(t, weather)}})
	if err != nil {
		t.Fatal(err)
	}
	if shown := r.codec.Decode(want); !strings.Contains(shown, `<tool_call>weather {"place": "Rome"`) || !strings.Contains(shown, "of a place") {
		t.Fatalf("the template writes %q", shown)
	}
	body := object{"messages": messages, "tools": []object{weather}, "max_tokens": 1, "return_token_ids": true}
	if a := r.ask(chatPath, body); !slices.Equal(a.PromptIDs, want) {
		t.Errorf("%q, want %q", r.codec.Decode(a.PromptIDs), r.codec.Decode(want))
	}
	var got struct{ Tokens []int32 }
	if r.into(&got, "/tokenize", object{"messages": messages, "tools": []object{weather}}); !slices.Equal(got.Tokens, want) {
		t.Errorf("/tokenize: %q", r.codec.Decode(got.Tokens))
	}
	body["tool_choice"] = "none"
	if a := r.ask(chatPath, body); strings.Contains(r.codec.Decode(a.PromptIDs), "of a place") {
		t.Errorf("offered with tool_choice none: %q", r.codec.Decode(a.PromptIDs))
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
