package server

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/text/tools"
)

// maxTools is how many functions a model is told of, as OpenAI has it.
const maxTools = 128

// toolParams say which functions a model may call. What OpenAI had before them is refused.
type toolParams struct {
	Tools    []tool     `json:"tools"`
	Choice   toolChoice `json:"tool_choice"`
	Parallel *bool      `json:"parallel_tool_calls"` // false: no call but the first is told of

	Functions    jsontext.Value `json:"functions"`
	FunctionCall jsontext.Value `json:"function_call"`
}

// tool is a function, and how chat templates take it.
type tool struct {
	function
	template json.RawMessage
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters,omitzero"` // a JSON schema
	Strict      *bool          `json:"strict,omitzero"`     // told to the model; a call that must be made holds to the schema anyway
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. What a function is stands within
// "function", or, as responses have it, beside the type.
func (t *tool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	raw := value.Clone()
	var read struct {
		Type   string    `json:"type"`
		Within *function `json:"function"`
		function
	}
	if err := readAt(dec, raw, &read); err != nil {
		return err
	}
	if read.Type != "function" {
		return must("a function: tools of type %.40q are not taken", read.Type)
	}
	if read.Within != nil {
		t.function, t.template = *read.Within, json.RawMessage(raw)
		return nil
	}
	t.function = read.function
	t.template, err = encode(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{read.Type, read.function})
	return err
}

// toolChoice is one of the words, or the function that must be called.
type toolChoice struct {
	word string // "" as "auto"
	name string
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *toolChoice) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if raw.Kind() == '"' {
		if err := readAt(dec, raw, &c.word); err != nil {
			return err
		}
		switch c.word {
		case "none", "auto", "required":
			return nil
		}
		return errChoice
	}
	var read struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if raw.Kind() != '{' || readAt(dec, raw, &read) != nil || read.Type != "function" || (read.Name == "") == (read.Function.Name == "") {
		return errChoice
	}
	c.name = read.Name + read.Function.Name
	return nil
}

// told is the choice as responses tell of it.
func (c *toolChoice) told(tools int) any {
	switch {
	case c.name != "":
		return struct {
			Type string `json:"type"`
			Name string `json:"name"`
		}{"function", c.name}
	case c.word != "":
		return c.word
	case tools == 0:
		return "none"
	}
	return "auto"
}

var errChoice = must("none, auto, required or a function by its name")

// offer is what a model is offered in a call.
type offer struct {
	tools  []json.RawMessage // for the chat template
	style  tools.Style       // of the calls that are looked for in what it writes
	single bool              // no more than one of them is told
}

// offer is what is offered to a model whose text must have a format, which is that of a
// call where one must be made.
func (p *toolParams) offer(m *Model, f *format) (o offer, err error) {
	switch {
	case given(p.Functions):
		return o, bad("functions", "is not supported: say it by tools")
	case given(p.FunctionCall):
		return o, bad("function_call", "is not supported: say it by tool_choice")
	case len(p.Tools) > maxTools:
		return o, bad("tools", "has %d functions, at most %d may be", len(p.Tools), maxTools)
	case len(p.Tools) == 0 && (p.Choice.word == "required" || p.Choice.name != ""):
		return o, bad("tool_choice", "is for tools: give some")
	case len(p.Tools) == 0 || p.Choice.word == "none":
		return o, nil
	case m.Calls == tools.None:
		return o, errNoCalls
	case f.spec != nil:
		return o, bad(f.param, "is given beside tools: leave one out, or give tool_choice none")
	}
	functions, err := p.functions()
	if err != nil {
		return o, err
	}
	o = offer{style: m.Calls, single: p.Parallel != nil && !*p.Parallel}
	for _, t := range p.Tools {
		o.tools = append(o.tools, t.template)
	}
	if len(functions) == 0 {
		return o, nil
	}
	spec, err := tools.Force(o.style, functions)
	if err != nil {
		return o, bad("tools", "%v", err)
	}
	*f = format{"tools", &spec}
	return o, nil
}

var errNoCalls = &refusal{http.StatusBadRequest, "tools are not taken: the model's chat template has no form of calls that is known, leave them out or give tool_choice none", "tools", "no_tools"}

// functions are those of which one must be called, if any. All that are given are looked at.
func (p *toolParams) functions() (forced []tools.Function, err error) {
	names := make(map[string]bool)
	for i, t := range p.Tools {
		param := fmt.Sprintf("tools.%d", i)
		switch {
		case t.Name == "":
			return nil, bad(param, "has no name")
		case names[t.Name]:
			return nil, bad(param, "has the name %.100q, which another one has", t.Name)
		case given(t.Parameters) && t.Parameters.Kind() != '{':
			return nil, bad(param, "has parameters that are no JSON schema of an object")
		}
		names[t.Name] = true
		if p.Choice.word == "required" || p.Choice.name == t.Name {
			f := tools.Function{Name: t.Name}
			if given(t.Parameters) {
				f.Parameters = json.RawMessage(t.Parameters)
			}
			forced = append(forced, f)
		}
	}
	if p.Choice.name != "" && !names[p.Choice.name] {
		return nil, bad("tool_choice", "names the function %.100q, which tools have not", p.Choice.name)
	}
	return forced, nil
}
