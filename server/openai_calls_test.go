package server

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/cbactor/cbactor/engine"
)

// forClient is a value of ours as OpenAI's client takes it.
func forClient(t *testing.T, v any) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal(mustJSON(t, v), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// accumulated puts a stream of chats together as OpenAI's client does.
func accumulated(t *testing.T, client openai.Client, ask openai.ChatCompletionNewParams) []openai.ChatCompletionChoice {
	t.Helper()
	stream := client.Chat.Completions.NewStreaming(t.Context(), ask)
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		if !sum.AddChunk(stream.Current()) {
			t.Errorf("a chunk that does not fit: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return sum.Choices
}

func TestOpenAIClientFormats(t *testing.T) {
	client := serveTiny(t, engine.Config{}, Options{}).client("any")
	ask := openai.ChatCompletionNewParams{
		Model: "tiny", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("A pet?")}, Seed: openai.Int(4), MaxCompletionTokens: openai.Int(300),
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "pet", Schema: forClient(t, pet), Strict: openai.Bool(true)}}},
	}
	whole, err := client.Chat.Completions.New(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	text := whole.Choices[0].Message.Content
	if err := isJSON(t, pet)(text); err != nil || whole.Choices[0].FinishReason != "stop" {
		t.Errorf("%q: %v", text, err)
	}
	if got := accumulated(t, client, ask)[0]; got.Message.Content != text {
		t.Errorf("streamed %q, want %q", got.Message.Content, text)
	}
}

func TestOpenAIClientCalls(t *testing.T) {
	client := serveCalls(t, hermesTemplate, nil).client("any")
	f := forClient(t, weather["function"])
	ask := openai.ChatCompletionNewParams{
		Model: "tiny", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Rain?")}, Seed: openai.Int(4), MaxCompletionTokens: openai.Int(300),
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "weather", Parameters: f["parameters"].(map[string]any), Strict: openai.Bool(true)})},
	}
	for name, choice := range map[string]openai.ChatCompletionToolChoiceOptionUnionParam{
		"required": {OfAuto: openai.String("required")},
		"named":    openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "weather"}),
	} {
		ask.ToolChoice = choice
		whole, err := client.Chat.Completions.New(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		got := whole.Choices[0]
		if len(got.Message.ToolCalls) != 1 || got.FinishReason != "tool_calls" || got.Message.Content != "" {
			t.Fatalf("%s: %s", name, whole.RawJSON())
		}
		call := got.Message.ToolCalls[0]
		if err := isJSON(t, f["parameters"])(call.Function.Arguments); err != nil || call.Function.Name != "weather" || call.ID == "" {
			t.Errorf("%s: %+v: %v", name, call, err)
		}
		streamed := accumulated(t, client, ask)[0]
		if c := streamed.Message.ToolCalls; len(c) != 1 || !reflect.DeepEqual(c[0].Function.Arguments, call.Function.Arguments) || c[0].Function.Name != "weather" || c[0].ID == "" || streamed.FinishReason != "tool_calls" {
			t.Errorf("%s streamed: %+v", name, streamed)
		}
		after := ask
		after.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("auto")}
		after.Messages = append(after.Messages, got.Message.ToParam(), openai.ToolMessage("rain", call.ID))
		if _, err := client.Chat.Completions.New(t.Context(), after); err != nil {
			t.Errorf("%s: what a call has answered: %v", name, err)
		}
	}
}
