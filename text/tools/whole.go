package tools

import "strings"

// Call is a call that is whole.
type Call struct {
	Name      string
	Arguments string // JSON, if the model has written such
}

// Parse is the words and the calls of a whole answer.
func Parse(s Style, answer string) (text string, calls []Call) {
	p := NewParser(s)
	var words strings.Builder
	for _, d := range append(p.Push(answer), p.Finish()...) {
		switch {
		case d.Text != "":
			words.WriteString(d.Text)
		case d.Name != "":
			calls = append(calls, Call{Name: d.Name, Arguments: d.Arguments})
		default:
			calls[d.Call].Arguments += d.Arguments
		}
	}
	return words.String(), calls
}
