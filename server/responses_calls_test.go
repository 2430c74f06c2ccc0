package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// toldResponse is a response as OpenAI's client reads it, with the kinds of events that led
// to it, each once in a row.
type toldResponse struct {
	responses.Response
	kinds string
}

// answered asks for a response, and for the same as a stream, whose events must tell the same.
func answered(t *testing.T, client openai.Client, ask responses.ResponseNewParams) (whole, streamed toldResponse) {
	t.Helper()
	one, err := client.Responses.New(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	whole.Response = *one
	stream := client.Responses.NewStreaming(t.Context(), ask)
	var kinds []string
	texts := make(map[int64]string) // of items, by their deltas
	for stream.Next() {
		e := stream.Current()
		switch e.Type {
		case "response.output_text.delta", "response.function_call_arguments.delta":
			texts[e.OutputIndex] += e.Delta
		case "response.output_text.done", "response.function_call_arguments.done":
			if said := e.Text + e.Arguments; said != texts[e.OutputIndex] {
				t.Errorf("%s: %q, in pieces %q", e.Type, said, texts[e.OutputIndex])
			}
		}
		if e.Type == "response.output_item.added" && e.Item.Arguments.OfString != "" {
			t.Errorf("an item begins with %q", e.Item.Arguments.OfString)
		}
		kind := strings.TrimPrefix(e.Type, "response.")
		if n := len(kinds); n == 0 || kinds[n-1] != kind {
			kinds = append(kinds, kind)
		}
		streamed.Response = e.Response
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	streamed.kinds = strings.Join(kinds, " ")
	return whole, streamed
}

// items are those of a response, in short.
func items(r toldResponse) (list []string) {
	for _, o := range r.Output {
		switch o.Type {
		case "message":
			list = append(list, "says "+o.Content[0].Text)
		case "function_call":
			list = append(list, o.Name+" "+o.Arguments.OfString)
			if !strings.HasPrefix(o.CallID, "call_") || !strings.HasPrefix(o.ID, "fc_") {
				list = append(list, "without a name")
			}
		}
	}
	return list
}

// aFunction is the function weather as responses are told of it.
func aFunction(t *testing.T) responses.ToolUnionParam {
	f := forClient(t, weather["function"])
	return responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{Name: "weather", Parameters: f["parameters"].(map[string]any), Description: openai.String("of a place")}}
}

func TestOpenAIClientResponsesCalls(t *testing.T) {
	r := serveCalls(t, hermesTemplate, &executor.EchoConfig{})
	ask := responses.ResponseNewParams{Model: "tiny", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Rain?")},
		Tools: []responses.ToolUnionParam{aFunction(t)}, MaxOutputTokens: openai.Int(300)}
	const rome, oslo = `{"place": "Rome", "days": 1}`, `{"place": "Oslo", "days": 2}`
	call := func(arguments string) string {
		return `<tool_call>{"name": "weather", "arguments": ` + arguments + `}</tool_call>`
	}
	const begun, said = "created in_progress ", "output_item.added content_part.added output_text.delta "
	const called = "output_item.added function_call_arguments.delta "
	for name, c := range map[string]struct {
		answer string
		items  []string
		kinds  string
	}{
		"words":  {"It rains.", []string{"says It rains."}, begun + said + "output_text.done content_part.done output_item.done completed"},
		"a call": {call(rome), []string{"weather " + rome}, begun + called + "function_call_arguments.done output_item.done completed"},
		"both": {"Let me see. " + call(rome) + call(oslo), []string{"says Let me see.", "weather " + rome, "weather " + oslo}, begun + said + called + called +
			"output_text.done content_part.done output_item.done function_call_arguments.done output_item.done function_call_arguments.done output_item.done completed"},
		"nothing": {"", []string{"says "}, begun + said + "output_text.done content_part.done output_item.done completed"},
	} {
		r.write(c.answer)
		whole, streamed := answered(t, r.client("any"), ask)
		if got := items(whole); !slices.Equal(got, c.items) || whole.Status != "completed" {
			t.Errorf("%s: %q: %s", name, got, whole.RawJSON())
		}
		if got := items(streamed); !slices.Equal(got, c.items) {
			t.Errorf("%s streamed: %q: %s", name, got, streamed.RawJSON())
		}
		if streamed.kinds != c.kinds {
			t.Errorf("%s: events %s, want %s", name, streamed.kinds, c.kinds)
		}
	}
}

// A forced call is made, and a conversation goes on with what has come of it.
func TestOpenAIClientResponsesForced(t *testing.T) {
	r := serveCalls(t, hermesTemplate, nil)
	parameters := forClient(t, weather["function"])["parameters"]
	ask := responses.ResponseNewParams{Model: "tiny", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Rain?")},
		Tools: []responses.ToolUnionParam{aFunction(t)}, MaxOutputTokens: openai.Int(300)}
	for name, choice := range map[string]responses.ResponseNewParamsToolChoiceUnion{
		"required": {OfToolChoiceMode: openai.Opt(responses.ToolChoiceOptionsRequired)},
		"named":    {OfFunctionTool: &responses.ToolChoiceFunctionParam{Name: "weather"}},
	} {
		ask.ToolChoice = choice
		whole, streamed := answered(t, r.client("any"), ask)
		for _, got := range []toldResponse{whole, streamed} {
			if len(got.Output) != 1 || got.Output[0].Name != "weather" || isJSON(t, parameters)(got.Output[0].Arguments.OfString) != nil || len(got.Tools) != 1 {
				t.Errorf("%s: %s", name, got.RawJSON())
			}
		}
	}
	body := object{"instructions": "Be kind.", "return_token_ids": true, "max_output_tokens": 1, "input": []object{{"role": "user", "content": "Rain?"},
		{"type": "message", "id": "msg_1", "role": "assistant", "content": []object{{"type": "output_text", "text": "Let me see."}}},
		{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": `{"place":"Rome"}`},
		{"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": `{"place":"Oslo"}`},
		{"type": "function_call_output", "call_id": "call_1", "output": "rain"}, {"type": "function_call_output", "call_id": "call_2", "output": []object{{"type": "input_text", "text": "snow"}}}}}
	asked := func(place string) object {
		return object{"type": "function", "function": object{"name": "weather", "arguments": `{"place":"` + place + `"}`}}
	}
	chat := object{"messages": []object{{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Rain?"},
		{"role": "assistant", "content": "Let me see.", "tool_calls": []object{asked("Rome"), asked("Oslo")}},
		{"role": "tool", "tool_call_id": "call_1", "content": "rain"}, {"role": "tool", "tool_call_id": "call_2", "content": "snow"}}, "max_tokens": 1}
	var got responses.Response
	if status, _, data := r.post("/v1/responses", body); status != 200 || json.Unmarshal(data, &got) != nil {
		t.Fatalf("%d: %s", status, data)
	}
	if want := r.ask(chatPath, chat); int(got.Usage.InputTokens) != want.Usage.Prompt {
		t.Errorf("%d tokens of a prompt, in a chat %d", got.Usage.InputTokens, want.Usage.Prompt)
	}
}

func TestOpenAIClientResponsesFormats(t *testing.T) {
	client := serveTiny(t, engine.Config{}, Options{}).client("any")
	ask := responses.ResponseNewParams{Model: "tiny", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("A pet?")}, MaxOutputTokens: openai.Int(300), Temperature: openai.Float(0),
		Text: responses.ResponseTextConfigParam{Format: responses.ResponseFormatTextConfigUnionParam{OfJSONSchema: &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "pet", Schema: forClient(t, pet)}}}}
	whole, streamed := answered(t, client, ask)
	if err := isJSON(t, pet)(whole.OutputText()); err != nil || !reflect.DeepEqual(items(whole), items(streamed)) {
		t.Errorf("%q, streamed %q: %v", items(whole), items(streamed), err)
	}
}
