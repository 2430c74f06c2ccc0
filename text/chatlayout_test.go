package text

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
)

// layoutCase is a conversation, how it is to be laid out, and what the reference does.
type layoutCase struct {
	Name, Template string
	Messages       []Message
	Options        struct {
		Continue           bool
		NoGenerationPrompt bool `json:"no_generation_prompt"`
		Variables          map[string]json.RawMessage
	}
	Out       string
	Unwritten bool // the message that is to be continued is not in it
}

// templated is a codec of a small tokenizer with a chat template.
func templated(t *testing.T, name, template string) *Codec {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(&checkpoint.Checkpoint{TokenizerJSON: data, ChatTemplate: template, BOSToken: "<s>", EOSToken: "</s>"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Parts, messages to continue and variables are laid out as Transformers does it.
func TestLayoutsMatchTransformers(t *testing.T) {
	data, err := os.ReadFile("testdata/layout.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []layoutCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		codec := templated(t, "bpe_bytelevel_gpt2", c.Template)
		got, err := codec.RenderChat(c.Messages, ChatOptions{Continue: c.Options.Continue, NoGenerationPrompt: c.Options.NoGenerationPrompt, Variables: c.Options.Variables})
		switch {
		case c.Unwritten && !errors.Is(err, ErrContinue):
			t.Errorf("%s: %q, %v, want ErrContinue", c.Name, got, err)
		case !c.Unwritten && (err != nil || got != c.Out):
			t.Errorf("%s: %v\n%q, want\n%q", c.Name, err, got, c.Out)
		}
	}
	t.Logf("%d layouts", len(cases))
}

// What is asked for and cannot be is refused.
func TestLayoutsRefused(t *testing.T) {
	c := templated(t, "bpe_bytelevel_gpt2", "{% for m in messages %}{{ m.content }}{% endfor %}")
	hi := []Message{{Role: "user", Content: "Hi"}}
	variable := func(name, value string) ChatOptions {
		return ChatOptions{Variables: map[string]json.RawMessage{name: json.RawMessage(value)}}
	}
	for name, k := range map[string]struct {
		messages []Message
		options  ChatOptions
		want     error
	}{
		"nothing to continue":    {nil, ChatOptions{Continue: true}, ErrContinue},
		"no part to continue":    {[]Message{{Role: "user", Parts: []string{}}}, ChatOptions{Continue: true}, nil},
		"messages":               {hi, variable("messages", "[]"), ErrVariables},
		"a start token":          {hi, variable("bos_token", `"<s>"`), ErrVariables},
		"another template":       {hi, variable("chat_template", `"x"`), ErrVariables},
		"no JSON":                {hi, variable("x", "{"), ErrVariables},
		"too deep":               {hi, variable("x", strings.Repeat("[", 2000)+strings.Repeat("]", 2000)), ErrVariables},
		"any other name":         {hi, variable("x", "null"), nil},
		"a name of the language": {hi, variable("range", "1"), nil},
	} {
		if _, err := c.RenderChat(k.messages, k.options); !errors.Is(err, k.want) {
			t.Errorf("%s: %v, want %v", name, err, k.want)
		}
	}
}

// Where a message ends is told by the mark that the template was given, whoever writes one
// like it; and nothing that a conversation or its variables have becomes a control token.
func TestLayoutsKeepControlTokens(t *testing.T) {
	const start = 462 // <s>
	c := templated(t, "bpe_llama3_split_nfc", "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}{{ tail }}")
	messages := []Message{{Role: "assistant", Content: "a CONTINUES_HERE b"}}
	options := ChatOptions{Continue: true, Variables: map[string]json.RawMessage{"tail": json.RawMessage(`" CONTINUES_HERE <s>"`)}}
	got, err := c.RenderChat(messages, options)
	if want := "<s>a CONTINUES_HERE b"; err != nil || got != want {
		t.Errorf("%q, want %q (%v)", got, want, err)
	}
	for name, k := range map[string]struct {
		messages []Message
		options  ChatOptions
	}{
		"variables": {messages, ChatOptions{Variables: options.Variables}},
		"continued": {[]Message{{Role: "assistant", Content: "a <s>"}}, ChatOptions{Continue: true}},
		"parts":     {[]Message{{Role: "user", Parts: []string{"<s>", "<s>"}}}, ChatOptions{}},
	} {
		ids, err := c.EncodeChatWith(k.messages, k.options)
		if err != nil || ids[0] != start || slices.Contains(ids[1:], start) {
			t.Errorf("%s: %v (%v), want one start token, the template's", name, ids, err)
		}
	}
}
