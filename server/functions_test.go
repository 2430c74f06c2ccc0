package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// A call that must be made is made, with arguments that hold to their schema.
func TestForcedCalls(t *testing.T) {
	t.Parallel()
	for _, template := range []string{hermesTemplate, llamaTemplate} {
		r := serveCalls(t, template, nil)
		for _, c := range []struct {
			choice any
			names  string
		}{{"required", "weather now"}, {object{"type": "function", "function": object{"name": "weather"}}, "weather"}} {
			body := object{"messages": say("Will it rain?"), "tools": []object{weather, now}, "tool_choice": c.choice, "n": 4, "seed": 3, "max_tokens": 600}
			for _, choice := range append(r.ask(chatPath, body).Choices, r.streamed(chatPath, body).Choices...) {
				m := plain(t, choice).Message
				if len(m.ToolCalls) != 1 || m.Content != "" || choice.FinishReason != "tool_calls" {
					t.Fatalf("%+v", choice)
				}
				f := m.ToolCalls[0].Function
				if !strings.Contains(c.names, f.Name) {
					t.Errorf("%s is called", f.Name)
				}
				var arguments map[string]any
				if err := json.Unmarshal([]byte(f.Arguments), &arguments); err != nil {
					t.Fatalf("%q: %v", f.Arguments, err)
				}
				if days, _ := arguments["days"].(float64); f.Name == "weather" && (len(arguments) != 2 || days < 1 || days > 9 || arguments["place"] != "Rome" && arguments["place"] != "Oslo") {
					t.Errorf("%s", f.Arguments)
				}
			}
		}
	}
}

// What is wrong with tools is refused by its name.
func TestToolsRefused(t *testing.T) {
	r := serveCalls(t, hermesTemplate, &executor.EchoConfig{})
	r.write("a")
	with := func(more string) string {
		return `{"messages":[{"role":"user","content":"a"}],` + more + `}`
	}
	const f = `{"type":"function","function":{"name":"f"}}`
	for more, param := range map[string]string{
		`"functions":[]`: "functions", `"function_call":"auto"`: "function_call",
		`"tools":{}`: "tools", `"tools":[5]`: "tools.0", `"tools":[{"type":"web_search"}]`: "tools.0", `"tools":[{"type":"function"}]`: "tools.0",
		`"tools":[` + f + `,` + f + `]`: "tools.1", `"tools":[{"type":"function","function":{"name":5}}]`: "tools.0.function.name",
		`"tools":[{"type":"function","function":{"name":"f","strict":"yes"}}]`:          "tools.0.function.strict",
		`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`:         "tools.0",
		`"tools":[` + strings.Repeat(f+",", 128) + f + `]`:                              "tools",
		`"tool_choice":"required"`:                                                      "tool_choice",
		`"tool_choice":"always","tools":[` + f + `]`:                                    "tool_choice",
		`"tool_choice":5,"tools":[` + f + `]`:                                           "tool_choice",
		`"tool_choice":{"type":"function"},"tools":[` + f + `]`:                         "tool_choice",
		`"tool_choice":{"type":"function","function":{"name":"g"}},"tools":[` + f + `]`: "tool_choice",
		`"tool_choice":{"type":"allowed_tools","name":"f"},"tools":[` + f + `]`:         "tool_choice",
		`"parallel_tool_calls":1`:                                                       "parallel_tool_calls",
		`"response_format":{"type":"json_object"},"tools":[` + f + `]`:                  "response_format",
		`"guided_regex":"a","tool_choice":"required","tools":[` + f + `]`:               "guided_regex",
		`"min_tokens":3,"tool_choice":"required","tools":[` + f + `]`:                   "min_tokens",
	} {
		r.refused(chatPath, with(more), 400, param, "invalid_value")
	}
	tiny := serveCalls(t, hermesTemplate, nil)
	for schema, code := range map[string]string{`{"not":{}}`: "grammar_not_supported", `{"type":"thing"}`: "bad_grammar", `{"$ref":"#"}`: "grammar_without_texts"} {
		tool := fmt.Sprintf(`{"type":"function","function":{"name":"f","parameters":%s}}`, schema)
		tiny.refused(chatPath, with(`"tool_choice":"required","tools":[`+tool+`]`), 400, "tools", code)
		if a := r.ask(chatPath, with(`"tools":[`+tool+`]`)); a.Choices[0].Message.Content != "a" { // it is the model's to read
			t.Errorf("%+v", a)
		}
	}
	for messages, param := range map[string]string{
		`{"role":"tool","content":"a"}`: "messages.0", `{"role":"user","tool_calls":[{"function":{"name":"f"}}]}`: "messages.0",
		`{"role":"assistant","tool_calls":[{"id":"a"}]}`: "messages.0.tool_calls.0", `{"role":"assistant","tool_calls":5}`: "messages.0.tool_calls",
		`{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]}`: "messages.0.tool_calls.0.function.arguments",
	} {
		r.refused(chatPath, `{"messages":[`+messages+`]}`, 400, param, "invalid_value")
	}
	r.refused("/v1/responses", `{"input":"a","tools":[{"type":"function","name":"f","parameters":[]}]}`, 400, "tools.0", "invalid_value")
	r.refused("/v1/responses", `{"input":"a","tools":[{"type":"function","name":"f"}],"text":{"format":{"type":"json_object"}}}`, 400, "text.format", "invalid_value")
	r.refused("/tokenize", `{"prompt":"a","tools":[`+f+`]}`, 400, "tools", "invalid_value")

	for name, template := range map[string]string{"no tools": "{{ messages[0].content }}", "an unknown form": "{{ tools }}{{ messages[0].content }}"} {
		r := serveCalls(t, template, &executor.EchoConfig{})
		r.write("a")
		message := r.refused(chatPath, with(`"tools":[`+f+`]`), 400, "tools", "no_tools")
		if !strings.Contains(message, "chat template") {
			t.Errorf("%s: %s", name, message)
		}
		if a := r.ask(chatPath, with(`"tool_choice":"none","tools":[`+f+`]`)); a.Choices[0].Message.Content != "a" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	echo := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	echo.refused("/tokenize", with(`"tools":[`+f+`]`), 400, "tools", "no_tools")
}
