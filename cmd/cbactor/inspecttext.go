package main

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/text"
)

// tokenizerKind says what tokenizer a model has, "" for none.
func tokenizerKind(c *checkpoint.Checkpoint) string {
	switch {
	case c.TokenizerJSON != nil:
		var t struct {
			Model *struct {
				Type string `json:"type"`
			} `json:"model"`
		}
		if json.Unmarshal(c.TokenizerJSON, &t) != nil || t.Model == nil {
			return "unreadable"
		}
		return cmp.Or(t.Model.Type, "BPE") // the oldest files, all BPE, do not name it
	case c.Vocab != nil:
		if c.Vocab.Pre == "" {
			return c.Vocab.Model
		}
		return c.Vocab.Model + " (" + c.Vocab.Pre + ")"
	}
	return ""
}

// addsBOS says whether a model's tokenizer puts the token of beginnings before a text; one
// without a tokenizer that works here takes ids as they are.
func addsBOS(c *checkpoint.Checkpoint) bool {
	codec, err := text.Load(c)
	if err != nil {
		return false
	}
	ids := codec.Encode("x")
	return len(ids) > 0 && ids[0] == c.Config.BOS
}

// chatInfo is what a chat template does.
type chatInfo struct {
	There    bool `json:"there"`
	Tools    bool `json:"tools"`
	Thinking bool `json:"thinking"`
}

// chatOf looks for the words that templates have for tools and thinking.
func chatOf(template string) chatInfo {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(template, w) {
				return true
			}
		}
		return false
	}
	return chatInfo{There: template != "", Tools: has("tools", "tool_calls"), Thinking: has("enable_thinking", "reasoning_content", "<think>", "reasoning_effort")}
}

// String is what a chat template does in words.
func (c chatInfo) String() string {
	switch {
	case !c.There:
		return "no chat template"
	case c.Tools && c.Thinking:
		return "chat template with tools and thinking"
	case c.Tools:
		return "chat template with tools"
	case c.Thinking:
		return "chat template with thinking"
	}
	return "chat template"
}
