package text

import (
	"strings"

	"github.com/cbactor/cbactor/text/jinja"
)

// capabilities are what a chat template does with what it is given, as far as trying
// tells.
type capabilities struct {
	tools bool // it does something with tools
	calls bool // and with the calls of messages

	textCalls  bool // the arguments of calls are JSON in a string, not a dict
	emptyTools bool // no tools are an empty list, not null

	content [sayers]contentForm // as what they take the content of whom
}

// probe tries a template. The error is that of a template that had to be stopped.
func (t *chatTemplate) probe() (capabilities, error) {
	takes := capabilities{tools: t.compiled.Uses("tools"), calls: t.compiled.Uses("tool_calls")}
	hello := conversation{messages: []Message{{Role: "user", Content: "Hello"}}, answer: true}
	_, err := t.renderAs(hello, takes)
	if runaway(err) {
		return takes, err
	}
	if err != nil {
		with := takes
		with.emptyTools = true
		if _, err := t.renderAs(hello, with); err == nil {
			takes = with
		}
	}
	loops := t.compiled.LoopsOver("messages", "content")
	if loops {
		takes.content[byUser] = t.contentForm(byUser, takes, partsForm)
	}
	for by := bySystem; by < sayers && takes.content[byUser] == listForm; by++ { // until more is known
		takes.content[by] = listForm
	}
	takes.textCalls = takes.calls && t.wantsTextCalls(takes)
	for by := bySystem; by < sayers && loops; by++ {
		takes.content[by] = t.contentForm(by, takes, takes.content[by])
	}
	return takes, nil
}

// wantsTextCalls says whether the arguments of calls have to be strings: as a dict they
// fail, or print as Python prints dicts.
func (t *chatTemplate) wantsTextCalls(takes capabilities) bool {
	called := conversation{messages: []Message{
		{Role: "user", Content: "Hello"},
		{Role: "assistant", ToolCalls: []ToolCall{{ID: "call12345", Name: "probe", Arguments: `{"key": "value"}`}}},
		{Role: "tool", Content: "done", ToolCallID: "call12345", Name: "probe"},
	}, answer: true}
	dict, err := t.renderAs(called, takes)
	if err == nil && !strings.Contains(dict.String(), "{'key': 'value'}") {
		return false
	}
	takes.textCalls = true
	text, err := t.renderAs(called, takes)
	return err == nil && strings.Contains(text.String(), `{"key": "value"}`)
}

// chatJSONDepth is how deep the JSON nests that a template is given.
const chatJSONDepth = 1000

// jsonValue is a JSON text as a template sees it.
func jsonValue(source []byte) (jinja.Value, error) { return jinja.FromJSON(source, chatJSONDepth) }
