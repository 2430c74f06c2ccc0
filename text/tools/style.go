package tools

import "strings"

// Style is a form in which models write calls.
type Style uint8

const (
	None   Style = iota // there are no calls: all is words
	Hermes              // <tool_call>{"name", "arguments"}</tool_call>
	Llama3              // {"name", "parameters"}, alone
)

const (
	opening   = "<tool_call>"
	closing   = "</tool_call>"
	pythonTag = "<|python_tag|>"
)

// Of is the form that a chat template teaches its model, by the words in it.
func Of(template string) Style {
	switch {
	case !strings.Contains(template, "tools"):
		return None
	case strings.Contains(template, opening):
		return Hermes
	case strings.Contains(template, pythonTag), strings.Contains(template, "ipython") && strings.Contains(template, `"parameters"`):
		return Llama3
	}
	return None
}
