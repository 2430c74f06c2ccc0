package server

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text/grammar"
)

// formatParams say what a text must be: OpenAI's response_format, vLLM's structured_outputs
// and its older names. One of them at most is given.
type formatParams struct {
	Format     *responseFormat    `json:"response_format"`
	Structured *structuredOutputs `json:"structured_outputs"`

	GuidedJSON    jsontext.Value `json:"guided_json"`
	GuidedRegex   *string        `json:"guided_regex"`
	GuidedChoice  []string       `json:"guided_choice"`
	GuidedGrammar jsontext.Value `json:"guided_grammar"`
}

// responseFormat is OpenAI's.
type responseFormat struct {
	Type   string      `json:"type"`
	Schema *jsonSchema `json:"json_schema"`
}

// jsonSchema is a schema with what OpenAI has beside it. A text holds to it whether strict
// or not.
type jsonSchema struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`
	Strict      *bool          `json:"strict"`
}

// structuredOutputs is vLLM's: one of these.
type structuredOutputs struct {
	JSON       jsontext.Value `json:"json"` // a schema, or one as a string
	Regex      *string        `json:"regex"`
	Choice     []string       `json:"choice"`
	JSONObject bool           `json:"json_object"`

	Grammar    jsontext.Value `json:"grammar"`
	Structural jsontext.Value `json:"structural_tag"`
	Whitespace jsontext.Value `json:"whitespace_pattern"`
}

// format is a grammar and the parameter that asks for it; nil: none does.
type format struct {
	param string
	spec  *grammar.Spec
}

// format is the one that is asked for; the names of its parameters have a prefix.
func (p *formatParams) format(prefix string) (f format, err error) {
	f.param = prefix + "response_format"
	if p.Format != nil {
		if f.spec, err = p.Format.spec(f.param); err != nil {
			return f, err
		}
	}
	older := structuredOutputs{JSON: p.GuidedJSON, Regex: p.GuidedRegex, Choice: p.GuidedChoice, Grammar: p.GuidedGrammar}
	for _, one := range []struct {
		name string
		from *structuredOutputs
	}{{"structured_outputs.", p.Structured}, {"guided_", &older}} {
		list, err := one.from.formats(prefix + one.name)
		if err != nil {
			return f, err
		}
		for _, g := range list {
			if f.spec != nil {
				return f, bad(g.param, "is given beside %s: leave one out", f.param)
			}
			f = g
		}
	}
	if p.Structured != nil && f.spec == nil {
		return f, bad(prefix+"structured_outputs", "has none of json, regex, choice and json_object: give one")
	}
	return f, nil
}

// spec is the grammar of a format.
func (f *responseFormat) spec(param string) (*grammar.Spec, error) {
	if f.Type == "json_schema" && f.Schema == nil {
		return nil, bad(param+".json_schema", "is missing: type json_schema needs it")
	}
	return f.Schema.spec(param, f.Type, param+".json_schema.schema")
}

// spec is the grammar of a format of a type, with the schema that is at a parameter.
func (s *jsonSchema) spec(param, kind, at string) (*grammar.Spec, error) {
	switch kind {
	case "text":
		return nil, nil
	case "json_object":
		return &grammar.Spec{JSON: true}, nil
	case "json_schema":
		if s.Schema.Kind() != '{' {
			return nil, bad(at, "must be a JSON schema, which is an object")
		}
		return &grammar.Spec{Schema: s.Schema}, nil
	}
	return nil, bad(param, "has type %.40q, must be text, json_object or json_schema", kind)
}

// formats are those that are given; the names of their parameters have a prefix.
func (s *structuredOutputs) formats(prefix string) (list []format, err error) {
	if s == nil {
		return nil, nil
	}
	for _, one := range []struct {
		name  string
		value jsontext.Value
	}{{"grammar", s.Grammar}, {"structural_tag", s.Structural}, {"whitespace_pattern", s.Whitespace}} {
		if given(one.value) {
			return nil, bad(prefix+one.name, "is not supported: say it by a JSON schema or a regular expression")
		}
	}
	if given(s.JSON) {
		schema, err := schemaOf(s.JSON)
		if err != nil {
			return nil, bad(prefix+"json", "must be a JSON schema, or one as a string")
		}
		list = append(list, format{prefix + "json", &grammar.Spec{Schema: schema}})
	}
	if s.Regex != nil {
		if *s.Regex == "" {
			return nil, bad(prefix+"regex", "is empty")
		}
		list = append(list, format{prefix + "regex", &grammar.Spec{Regex: *s.Regex}})
	}
	if s.Choice != nil {
		list = append(list, format{prefix + "choice", &grammar.Spec{Choices: s.Choice}})
	}
	if s.JSONObject {
		list = append(list, format{prefix + "json_object", &grammar.Spec{JSON: true}})
	}
	return list, nil
}

// schemaOf is a schema that is given as JSON, or as a string that has it.
func schemaOf(v jsontext.Value) ([]byte, error) {
	if v.Kind() != '"' {
		return v, nil
	}
	var s string
	err := unmarshal(v, &s)
	return []byte(s), err
}

// put has a request hold to the format. What would keep a text from its end is refused.
func (f format) put(r *texts.Request) error {
	switch {
	case f.spec == nil:
		return nil
	case r.Sampling.MinNew > 0:
		return bad("min_tokens", "is %d beside %s: nothing can follow a text that is complete, leave one out", r.Sampling.MinNew, f.param)
	case r.IgnoreEOS && len(r.StopIDs) == 0:
		return bad("ignore_eos", "is given beside %s: its text could not end, leave one out or give stop_token_ids", f.param)
	}
	r.Grammar = f.spec
	return nil
}
