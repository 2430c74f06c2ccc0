package server

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
)

// What a stream of a chat tells is what the whole answer tells, with the ids of the template.
func TestChatStreamedEqualsWhole(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	ids, err := r.codec.EncodeChat([]text.Message{{Role: "user", Content: "Write a story."}})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]object{
		"greedy":  {"messages": say("Write a story."), "temperature": 0, "max_tokens": 12},
		"parts":   {"messages": []object{{"role": "user", "content": []object{{"type": "text", "text": "Write a story."}}}}, "temperature": 0, "max_completion_tokens": 12},
		"several": {"messages": say("Write a story."), "n": 3, "seed": 5, "max_tokens": 9, "logprobs": true, "top_logprobs": 4},
		"stop":    {"messages": say("Write a story."), "temperature": 0, "stop": " a", "max_tokens": 50, "response_format": object{"type": "text"}},
	} {
		body["return_token_ids"] = true
		whole, streamed := r.ask(chatPath, body), r.streamed(chatPath, body)
		if !reflect.DeepEqual(whole.Choices, streamed.Choices) || !slices.Equal(streamed.PromptIDs, whole.PromptIDs) {
			t.Errorf("%s: %+v, streamed %+v", name, whole.Choices, streamed.Choices)
		}
		if whole.Object != "chat.completion" || !strings.HasPrefix(whole.ID, "chatcmpl-") || !slices.Equal(whole.PromptIDs, ids) || whole.Usage.Prompt != len(ids) {
			t.Errorf("%s: %+v", name, whole)
		}
		for _, c := range whole.Choices {
			if c.Message.Role != "assistant" || c.Message.Content == "" || (c.Logprobs != nil) != (name == "several") {
				t.Errorf("%s: %+v", name, c)
			}
			if c.Logprobs != nil && (len(c.Logprobs.Content) != len(c.IDs) || len(c.Logprobs.Content[0].Top) != 4 || len(c.Logprobs.Content[0].Bytes) == 0) {
				t.Errorf("%s: %+v", name, c.Logprobs)
			}
		}
	}
	if a := r.ask(chatPath, object{"messages": say("Hi"), "temperature": 0, "max_tokens": 5}); a.Choices[0].Logprobs != nil {
		t.Errorf("log-probabilities that nobody asked for: %+v", a.Choices[0])
	}
	long := r.ask(chatPath, object{"messages": say("Write a story."), "temperature": 0})
	if c := long.Choices[0]; c.FinishReason != "stop" || strings.Contains(c.Message.Content, "<|") {
		t.Errorf("to its end: %+v", c)
	}
}

// The newer name of a system message is one to the template.
func TestChatDeveloper(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	for _, role := range []string{"system", "developer"} {
		var got struct{ Tokens []int32 }
		r.into(&got, "/tokenize", object{"messages": append([]object{{"role": role, "content": "Be kind."}}, say("Hi")...)})
		want, err := r.codec.EncodeChat([]text.Message{{Role: "system", Content: "Be kind."}, {Role: "user", Content: "Hi"}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Tokens, want) {
			t.Errorf("%s: %v, want %v", role, got.Tokens, want)
		}
	}
}
