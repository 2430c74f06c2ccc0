package text

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/cbactor/cbactor/text/jinja"
)

const (
	renderTime = 2 * time.Second // for one rendering; 0.3 ms is usual
	renderings = 4               // that run at once, each with its limits of memory
)

// chatTemplate renders conversations as Hugging Face's apply_chat_template
// does: bos_token and eos_token given, documents none.
type chatTemplate struct {
	source   string
	compiled *jinja.Template // nil: err says why
	err      error
	takes    capabilities
	bos, eos string
	now      func() time.Time // of strftime_now
	slots    chan struct{}    // one entry per rendering that runs
}

// newChatTemplate compiles a template and tries it on short conversations. One
// that does not compile or does not end is kept with the error that render
// gives; one that only refuses the trial is fine, as it may want other messages.
func newChatTemplate(source, bos, eos string) *chatTemplate {
	t := &chatTemplate{source: source, bos: bos, eos: eos, now: time.Now, slots: make(chan struct{}, renderings)}
	compiled, err := jinja.Parse(source)
	if err != nil {
		t.err = fmt.Errorf("%w: %w", ErrTemplate, err)
		return t
	}
	t.compiled = compiled
	t.takes, t.err = t.probe()
	return t
}

// conversation is what a template renders.
type conversation struct {
	messages  []Message
	tools     jinja.Value            // nil: none
	answer    bool                   // open the answer behind the messages
	continued bool                   // end within the last message
	variables map[string]jinja.Value // further ones of the caller's
}

// render is the prompt for a conversation. Errors: ErrTemplate with the template's own
// words, ErrContinue.
func (t *chatTemplate) render(c conversation) (jinja.Text, error) {
	if t.err != nil {
		return jinja.Text{}, t.err
	}
	text, err := t.renderAs(c, t.takes)
	if err != nil || !c.continued {
		return text, err
	}
	return upToMark(text, c.messages[len(c.messages)-1])
}

// renderAs is render for a template that takes what it is said to take.
func (t *chatTemplate) renderAs(c conversation, takes capabilities) (jinja.Text, error) {
	values := make([]jinja.Value, len(c.messages))
	for i, m := range c.messages {
		end := ""
		if c.continued && i == len(values)-1 {
			end = continueMark
		}
		values[i] = m.value(takes, end)
	}
	if c.tools == nil && takes.emptyTools {
		c.tools = jinja.NewList(nil)
	}
	ctx, cancel := context.WithTimeout(context.Background(), renderTime)
	defer cancel()
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return jinja.Text{}, fmt.Errorf("%w: %w: others are rendered for %v", ErrTemplate, jinja.ErrLimit, renderTime)
	}
	defer func() { <-t.slots }()
	variables := map[string]jinja.Value{
		"messages":              jinja.NewList(values),
		"add_generation_prompt": c.answer,
		"bos_token":             jinja.String(t.bos),
		"eos_token":             jinja.String(t.eos),
		"tools":                 c.tools,
		"documents":             nil,
	}
	maps.Copy(variables, c.variables)
	text, err := t.compiled.Render(ctx, variables, jinja.Options{Now: t.now()})
	if err != nil {
		return text, fmt.Errorf("%w: %w", ErrTemplate, err)
	}
	return text, nil
}

// runaway says whether an error is that a template was stopped.
func runaway(err error) bool { return errors.Is(err, jinja.ErrLimit) }
