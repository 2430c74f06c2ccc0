package text

import "github.com/ardanlabs/jinja"

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // "system", "user", "assistant", or what else the template knows
	Content string `json:"content"`
}

// value is the message as a template sees it.
func (m Message) value() jinja.Value {
	v := jinja.NewDict()
	v.AsDict().Set("role", jinja.NewString(m.Role))
	v.AsDict().Set("content", jinja.NewString(m.Content))
	return v
}
