package text

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/text/jinja"
)

func TestTemplatesRenderAsJinja2Does(t *testing.T) {
	data, err := os.ReadFile("testdata/chat.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Template string
		Messages       []Message
		Tools          json.RawMessage
		Out, Err       string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		got, err := newChatTemplate(c.Template, "<s>", "</s>").render(conversation{messages: c.Messages, tools: toolsOf(t, c.Tools), answer: true})
		switch {
		case c.Err != "" && (!errors.Is(err, ErrTemplate) || !strings.Contains(err.Error(), c.Err)):
			t.Errorf("%s: error %v, want ErrTemplate with %q", c.Name, err, c.Err)
		case c.Err == "" && err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case got.String() != c.Out:
			t.Errorf("%s:\n%q, want\n%q", c.Name, got, c.Out)
		}
	}
	t.Logf("%d renderings", len(cases))
}

// toolsOf is a list of tools as a template sees it.
func toolsOf(t *testing.T, source json.RawMessage) jinja.Value {
	t.Helper()
	if source == nil {
		return nil
	}
	v, err := jsonValue(source)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asked is a conversation that the answer follows.
func asked(messages ...Message) conversation { return conversation{messages: messages, answer: true} }

// The template alone decides on start tokens: one when it writes one, none when
// it does not, whatever the tokenizer puts around plain text.
func TestChatHasTheStartTokensOfTheTemplate(t *testing.T) {
	data, err := os.ReadFile("testdata/bpe_llama3_split_nfc.tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	const start = 462 // <s>
	for template, want := range map[string]int{
		"{{ bos_token }}{{ messages[0].content }}": 1,
		"{{ messages[0].content }}":                0,
	} {
		c, err := Load(&checkpoint.Checkpoint{TokenizerJSON: data, ChatTemplate: template, BOSToken: "<s>"})
		if err != nil {
			t.Fatal(err)
		}
		ids, err := c.EncodeChat([]Message{{Role: "user", Content: "Hi"}})
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, id := range ids {
			if id == start {
				count++
			}
		}
		if count != want {
			t.Errorf("%s: %d start tokens in %v, want %d", template, count, ids, want)
		}
		if plain := c.Encode("Hi"); plain[0] != start || slices.Contains(plain[1:], start) {
			t.Errorf("plain text: %v, want one start token", plain)
		}
	}
}

func TestChatWithoutTemplate(t *testing.T) {
	if _, err := smallCodec(t, "bpe_bytelevel_gpt2").EncodeChat(nil); !errors.Is(err, ErrNoTemplate) {
		t.Errorf("%v, want ErrNoTemplate", err)
	}
}

// Templates that would run for ever, or use up the stack or the memory, end
// with an error, soon, and those that do so whatever they are given are not used.
func TestHostileTemplatesAreStopped(t *testing.T) {
	for name, k := range map[string]struct {
		source string
		stops  bool
	}{
		"nested loops":      {strings.Repeat("{% for a in range(3000) %}", 3) + "x" + strings.Repeat("{% endfor %}", 3), true},
		"endless macro":     {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", true},
		"doubled text":      {"{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", true},
		"long range":        {"{% for a in range(10000000000) %}x{% endfor %}", false},
		"large":             {strings.Repeat("x", jinja.MaxSource+1), true},
		"many parentheses":  {"{{" + strings.Repeat("(", jinja.MaxSource-2), false},
		"unclosed tag":      {"{% for a in b", false},
		"unknown statement": {"{% include '/etc/hostname' %}", false},
		"long message":      {"{{ raise_exception('a\nb' * 10000) }}", false},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			c := newChatTemplate(k.source, "", "")
			_, err := c.render(asked(Message{Role: "user", Content: "Hi"}))
			if !errors.Is(err, ErrTemplate) || runaway(err) != k.stops || k.stops && c.err == nil {
				t.Errorf("error %v, at load %v", err, c.err)
			}
			if took := time.Since(began); took > 3*renderTime {
				t.Errorf("took %v", took)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 700) {
				t.Errorf("more than a line: %q", err)
			}
		})
	}
}

// The trial at load is no judgement on templates that want other messages.
func TestTemplateMayRefuseTheTrial(t *testing.T) {
	c := newChatTemplate("{% if messages|length < 2 %}{{ raise_exception('two, please') }}{% endif %}ok", "", "")
	if _, err := c.render(asked(Message{})); !errors.Is(err, ErrTemplate) || !strings.Contains(err.Error(), "two, please") {
		t.Errorf("error %v", err)
	}
	if got, err := c.render(asked(Message{}, Message{})); got.String() != "ok" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestToolsReachTheTemplate(t *testing.T) {
	data, err := os.ReadFile("testdata/bpe_bytelevel_gpt2.tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	with := func(template string) *Codec {
		c, err := Load(&checkpoint.Checkpoint{TokenizerJSON: data, ChatTemplate: template})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const writes = "{% for t in tools or [] %}{{ t.function.name }};{% endfor %}{{ messages[0].content }}"
	tool := ChatOptions{Tools: []json.RawMessage{[]byte(`{"function":{"name":"f"}}`), []byte(`{"function":{"name":"g"}}`)}}
	user := []Message{{Role: "user", Content: "Hi"}}
	c := with(writes)
	ids, err := c.EncodeChatWith(user, tool)
	if got := c.Decode(ids); err != nil || got != "f;g;Hi" {
		t.Errorf("%q, %v", got, err)
	}
	if ids, err = c.EncodeChat(user); err != nil || c.Decode(ids) != "Hi" {
		t.Errorf("without tools: %q, %v", c.Decode(ids), err)
	}
	if !c.KnowsTools() || c.ChatTemplate() != writes {
		t.Error("the codec does not tell of its template")
	}
	for _, bad := range []string{``, `{`, `{} {}`, `1e999`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000)} {
		if _, err := c.EncodeChatWith(user, ChatOptions{Tools: []json.RawMessage{[]byte(bad)}}); !errors.Is(err, ErrTools) {
			t.Errorf("%.20s: %v, want ErrTools", bad, err)
		}
	}
	for _, template := range []string{"{{ messages[0].content }}", "tools {# tools #}{{ my_tools }}{{ toolset }}"} {
		c := with(template)
		if _, err := c.EncodeChatWith(user, tool); !errors.Is(err, ErrNoTools) || c.KnowsTools() {
			t.Errorf("%s: %v, want ErrNoTools", template, err)
		}
	}
	called := []Message{{Role: "assistant", ToolCalls: []ToolCall{{Name: "f", Arguments: "{}"}}}}
	if _, err := c.EncodeChat(called); !errors.Is(err, ErrNoTools) {
		t.Errorf("calls that the template leaves out: %v", err)
	}
	ids, err = with("{{ messages[0].tool_calls[0].function.name }}").EncodeChat(called)
	if got := c.Decode(ids); err != nil || got != "f" {
		t.Errorf("calls: %q, %v", got, err)
	}
	if _, err := smallCodec(t, "bpe_bytelevel_gpt2").EncodeChatWith(nil, tool); !errors.Is(err, ErrNoTemplate) {
		t.Errorf("%v, want ErrNoTemplate", err)
	}
}
