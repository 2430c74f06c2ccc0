package text

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/text/jinja"
)

// settled are the variables of chat templates that are set otherwise, and the arguments of
// Transformers' apply_chat_template that say what a template is given and by which.
var settled = []string{"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token",
	"chat_template", "continue_final_message", "conversation", "tokenize"}

// CheckVariable refuses the name of a variable that [ChatOptions.Variables] cannot have,
// with ErrVariables.
func CheckVariable(name string) error {
	if slices.Contains(settled, name) {
		return fmt.Errorf("%w: %s is set otherwise", ErrVariables, name)
	}
	return nil
}

// variables are the caller's as a template sees them.
func (o *ChatOptions) variables() (map[string]jinja.Value, error) {
	all := make(map[string]jinja.Value, len(o.Variables))
	for name, source := range o.Variables {
		if err := CheckVariable(name); err != nil {
			return nil, err
		}
		v, err := jsonValue(source)
		if err != nil {
			return nil, fmt.Errorf("%w: %.100q: %w", ErrVariables, name, err)
		}
		all[name] = v
	}
	return all, nil
}
