package convert

import (
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/text/grammar"
)

// language is what a text must match; nil: nothing.
func language(s *grammar.Spec) *messages.Grammar {
	if s == nil {
		return nil
	}
	m := &messages.Grammar{Regex: s.Regex, Json: s.JSON, Choices: s.Choices, Before: s.Before, After: s.After}
	if s.Schema != nil {
		m.Schema = new(string(s.Schema))
	}
	return m
}

// languageOf reads it.
func languageOf(m *messages.Grammar) *grammar.Spec {
	if m == nil {
		return nil
	}
	s := &grammar.Spec{Regex: m.GetRegex(), JSON: m.GetJson(), Choices: m.GetChoices(), Before: m.GetBefore(), After: m.GetAfter()}
	if m.Schema != nil {
		s.Schema = []byte(m.GetSchema())
	}
	return s
}
