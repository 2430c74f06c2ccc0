package main

import (
	"strings"
	"testing"
)

// What an assistant thought is a part of its message.
func TestReasoningOfAConversation(t *testing.T) {
	talk, err := decodeConversation(strings.NewReader(`[{"role":"user","content":"Hi","reasoning_content":null},{"role":"assistant","content":"Hello","reasoning_content":"They greet."}]`))
	if err != nil {
		t.Fatal(err)
	}
	if got := talk.messages[1].Reasoning; got != "They greet." || talk.messages[0].Reasoning != "" {
		t.Errorf("%+v", talk.messages)
	}
}

// Ids come as words, or as a list that ends.
func TestInputIDs(t *testing.T) {
	c := &cli{}
	for input, want := range map[string]int{"1,2": 2, "1 2": 2, "[1, 2]": 2, " [1]\n": 1, "[1,2": 0, "1,2]": 0, "[[1]]": 0, "[": 0, "x": 0} {
		ids, err := c.inputIDs([]string{input})
		if len(ids) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", input, ids, err)
		}
	}
}
