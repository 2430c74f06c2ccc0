package texts

import (
	"fmt"
	"unicode/utf8"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/text/grammar"
)

// Prompt is what a request begins with: at most one of its fields is set.
type Prompt struct {
	IDs      []int32        // as they are
	Text     *string        // encoded as the tokenizer does it, with a start token where it has one
	Raw      *string        // encoded with nothing put around it
	Messages []text.Message // by the model's chat template

	text.ChatOptions // beside Messages
}

// Request asks for text. Its slices are copied.
type Request struct {
	engine.Request // PromptIDs hold where Prompt has nothing

	Prompt   Prompt
	Stop     []string      // texts that end it and are cut off: at most text.MaxStops; not beside the engine's Stop
	KeepStop bool          // the one that is found is part of the text
	StopIDs  []int32       // ids that end it besides EOS, or with IgnoreEOS alone, and are not shown
	Grammar  *grammar.Spec // what the text must match; not beside a Processor, and with ids that end it
	BadWords []string      // texts that are not generated: as the tokenizer writes them at the start of a text, and behind a space
}

// Check refuses what no model could take, with errors of the classes engine.ErrParams,
// text.ErrStops and grammar.ErrSpec. Generate begins with it.
func (r *Request) Check() error {
	if err := r.Prompt.check(); err != nil {
		return err
	}
	if r.Prompt.given() > 0 && r.PromptIDs != nil {
		return fmt.Errorf("%w: a prompt is given twice, leave PromptIDs or Prompt out", engine.ErrParams)
	}
	if len(r.Stop) > 0 && r.Request.Stop != nil {
		return fmt.Errorf("%w: stop strings and a matcher are given, leave one out", engine.ErrParams)
	}
	if r.Grammar != nil && r.Sampling.Processor != nil {
		return fmt.Errorf("%w: a grammar and a processor are given, leave one out", engine.ErrParams)
	}
	if r.Grammar != nil {
		if err := r.Grammar.Check(); err != nil {
			return err
		}
	}
	for i, w := range r.BadWords {
		if w == "" || !utf8.ValidString(w) {
			return fmt.Errorf("%w: bad word %d is %q, must be some UTF-8", engine.ErrParams, i+1, w)
		}
	}
	return text.CheckStops(r.Stop)
}

// check refuses a prompt that is several, or that is not UTF-8: a tokenizer would take it
// with characters replaced.
func (p Prompt) check() error {
	if n := p.given(); n > 1 {
		return fmt.Errorf("%w: %d of ids, text, raw text and messages are given, must be one", engine.ErrParams, n)
	}
	if p.Messages == nil && (len(p.Tools) > 0 || len(p.Variables) > 0 || p.NoGenerationPrompt || p.Continue) {
		return fmt.Errorf("%w: options of a chat template are given without messages", engine.ErrParams)
	}
	valid := true
	for _, s := range []*string{p.Text, p.Raw} {
		valid = valid && (s == nil || utf8.ValidString(*s))
	}
	for _, m := range p.Messages {
		valid = valid && m.Valid()
	}
	for _, t := range p.Tools {
		valid = valid && utf8.Valid(t)
	}
	for name, v := range p.Variables {
		valid = valid && utf8.ValidString(name) && utf8.Valid(v)
	}
	if !valid {
		return fmt.Errorf("%w: the prompt is not UTF-8: convert it", engine.ErrParams)
	}
	return nil
}

// given is how many kinds of prompt there are.
func (p Prompt) given() (n int) {
	for _, is := range []bool{p.IDs != nil, p.Text != nil, p.Raw != nil, p.Messages != nil} {
		if is {
			n++
		}
	}
	return n
}
