package text

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

const (
	templateSize  = 128 << 10       // bytes of source at most; real ones have up to 30 KB. Also bounds how deep it can nest
	renderTime    = 2 * time.Second // for one rendering; 0.3 ms is usual
	renderedSteps = 1 << 17         // loop rounds, macro calls and items of range of one rendering
	renderings    = 4               // that run at once
)

// chatTemplate renders conversations as Hugging Face's apply_chat_template
// does: trim_blocks and lstrip_blocks on, bos_token and eos_token given, documents none.
type chatTemplate struct {
	source   string
	compiled *jinja.Template // nil: err says why
	err      error
	tools    bool // it does something with tools
	calls    bool // and with the calls of messages
	bos, eos string
	slots    chan struct{} // one entry per rendering that runs
}

// newChatTemplate compiles a template and tries it on a short conversation. One
// that does not compile or does not end is kept with the error that render
// gives; one that only refuses the trial is fine, as it may want other messages.
func newChatTemplate(source, bos, eos string) *chatTemplate {
	t := &chatTemplate{source: source, bos: bos, eos: eos, slots: make(chan struct{}, renderings)}
	if len(source) > templateSize {
		t.err = fmt.Errorf("%w: it has %d bytes, at most %d are taken", ErrTemplate, len(source), templateSize)
		return t
	}
	if strings.Contains(source, stepName) {
		t.err = fmt.Errorf("%w: it uses the reserved name %s", ErrTemplate, stepName)
		return t
	}
	t.tools, t.calls = mentions(source, "tools"), mentions(source, "tool_calls")
	t.compiled, t.err = bounded(t.slots, func() (*jinja.Template, error) {
		return jinja.Compile(addSteps(likeJinja2(source)))
	})
	if _, err := t.render([]Message{{Role: "user", Content: "Hello"}}, jinja.None(), true); errors.Is(err, errRunaway) {
		t.err = err
	}
	return t
}

// likeJinja2 does to a source what jinja2 does and the library does not: line
// ends become \n, and one at the very end is dropped.
func likeJinja2(source string) string {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	return strings.TrimSuffix(source, "\n")
}

// render is the prompt for messages, ending where the answer starts if answer is set. The
// error is ErrTemplate with the template's own words.
func (t *chatTemplate) render(messages []Message, tools jinja.Value, answer bool) (string, error) {
	if t.err != nil {
		return "", t.err
	}
	values := make([]jinja.Value, len(messages))
	for i, m := range messages {
		values[i] = m.value()
	}
	b := newBudget(renderedSteps, time.Now().Add(renderTime))
	variables := map[string]jinja.Value{
		"messages":              jinja.NewList(values),
		"add_generation_prompt": jinja.NewBool(answer),
		"bos_token":             jinja.NewString(t.bos),
		"eos_token":             jinja.NewString(t.eos),
		"tools":                 tools,
		"documents":             jinja.None(),
		stepName:                jinja.NewCallable(stepName, b.step),
		"range":                 jinja.NewCallable("range", b.rangeOf),
	}
	return bounded(t.slots, func() (string, error) { return t.compiled.RenderValues(variables) })
}

// errRunaway marks a template that was stopped.
var errRunaway = errors.New("it was stopped")

// bounded runs f beside the caller and gives up after renderTime; the error is
// ErrTemplate. What panics is an error. An f that cannot be stopped keeps its
// slot, so that those are few.
func bounded[T any](slots chan struct{}, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	timeout := time.NewTimer(renderTime)
	defer timeout.Stop()
	late := result{err: fmt.Errorf("%w: %w after %v", ErrTemplate, errRunaway, renderTime)}
	select {
	case slots <- struct{}{}:
	case <-timeout.C:
		return late.value, late.err
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-slots }()
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("%w: %s", ErrTemplate, oneLine(fmt.Sprint(p)))
			}
			done <- r
		}()
		r.value, r.err = f()
		if r.err != nil && !errors.Is(r.err, ErrTemplate) {
			r.err = fmt.Errorf("%w: %s", ErrTemplate, oneLine(r.err.Error()))
		}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-timeout.C:
		return late.value, late.err
	}
}

// oneLine is a message of a template as part of an error: one line that is not
// too long.
func oneLine(message string) string {
	const limit = 500
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > limit {
		message = strings.ToValidUTF8(message[:limit], "") + "…"
	}
	return message
}
