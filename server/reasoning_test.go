package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/text"
)

// What an assistant thought before its answer stands in the prompt as the template has it.
func TestReasoningInConversations(t *testing.T) {
	r := serveCalls(t, `{% for m in messages %}[{{ m.role }}]{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}{% endfor %}[a]`, &executor.EchoConfig{})
	want, err := r.codec.EncodeChat([]text.Message{{Role: "user", Content: "Hi"}, {Role: "assistant", Content: "Hello", Reasoning: "They greet."}})
	if err != nil {
		t.Fatal(err)
	}
	if shown := r.codec.Decode(want); !strings.Contains(shown, "<think>They greet.</think>") {
		t.Fatalf("the template writes %q", shown)
	}
	messages := []object{{"role": "user", "content": "Hi", "reasoning_content": nil}, {"role": "assistant", "content": "Hello", "reasoning_content": "They greet."}}
	if a := r.ask(chatPath, object{"messages": messages, "max_tokens": 1, "return_token_ids": true}); !slices.Equal(a.PromptIDs, want) {
		t.Errorf("%q, want %q", r.codec.Decode(a.PromptIDs), r.codec.Decode(want))
	}
}
