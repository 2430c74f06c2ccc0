package text

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cbactor/cbactor/checkpoint"
)

// patterns are the regular expressions of Split steps that are known, with what
// finds the first part: a match, or what is before one.
var patterns = map[string]func(string) int{
	checkpoint.GPT2Pattern:   nextGPT2,
	checkpoint.Llama3Pattern: nextLlama3,
	checkpoint.Qwen2Pattern:  nextQwen2,
	`\p{N}`:                  each(isNumber),
}

// coverAll are those of them that match at every place.
var coverAll = map[string]bool{checkpoint.GPT2Pattern: true, checkpoint.Llama3Pattern: true, checkpoint.Qwen2Pattern: true}

// readSplit reads a Split step. A pattern that is known and whose matches are the
// parts is scanned by hand.
func (d *definition) readSplit(raw json.RawMessage) error {
	var split struct {
		Type     string  `json:"type"`
		Pattern  pattern `json:"pattern"`
		Behavior string  `json:"behavior"`
		Invert   bool    `json:"invert"`
	}
	if err := decodeStrict("pre_tokenizer", raw, &split); err != nil {
		return err
	}
	if err := d.check(&split.Pattern); err != nil {
		return err
	}
	b, err := readBehavior(split.Behavior)
	if err != nil {
		return err
	}
	if split.Pattern.String != nil {
		return d.addStep(splitStep(findText(*split.Pattern.String), b, split.Invert))
	}
	// The same for patterns that match everywhere.
	if b == isolated && !split.Invert || b == removed && split.Invert && coverAll[*split.Pattern.Regex] {
		s, err := isolating(*split.Pattern.Regex)
		if err != nil {
			return err
		}
		return d.addStep(s)
	}
	e, err := compile(*split.Pattern.Regex)
	if err != nil {
		return err
	}
	return d.addStep(splitStep(e.find, b, split.Invert))
}

// isolating is the step whose parts are the matches of a pattern and what is between.
func isolating(pattern string) (step, error) {
	if next, known := patterns[pattern]; known {
		return step{next: next}, nil
	}
	e, err := compile(pattern)
	if err != nil {
		return step{}, err
	}
	return splitStep(e.find, isolated, false), nil
}

// finder finds the spans of a text that are looked for, in their order; spans cover
// the text. ok is false when it did not come to an end in time.
type finder func(s string, until time.Time) (spans []span, ok bool)

// splitStep cuts at what is found; invert: at what is not.
func splitStep(find finder, b behavior, invert bool) step {
	return step{cut: func(s string, until time.Time, emit func(string, int)) bool {
		spans, ok := find(s, until)
		if !ok {
			return false
		}
		if invert {
			for i := range spans {
				spans[i].found = !spans[i].found
			}
		}
		for _, part := range b.joined(spans) {
			emit(s[part.from:part.to], part.from)
		}
		return true
	}}
}

// finding collects the spans of a finder from the places that it looks for.
type finding struct {
	spans []span
	done  int
}

// add takes the next place, from and to of it.
func (f *finding) add(from, to int) {
	f.upTo(from)
	f.spans = append(f.spans, span{from, to, true})
	f.done = to
}

// upTo takes what is before the next place, or the end of the text.
func (f *finding) upTo(from int) {
	if f.done < from {
		f.spans = append(f.spans, span{f.done, from, false})
	}
}

// findText finds a text, which is not empty.
func findText(text string) finder {
	return func(s string, _ time.Time) (spans []span, ok bool) {
		var f finding
		for {
			i := strings.Index(s[f.done:], text)
			if i < 0 {
				break
			}
			f.add(f.done+i, f.done+i+len(text))
		}
		f.upTo(len(s))
		return f.spans, true
	}
}

// findEach finds every character of a kind.
func findEach(is func(rune) bool) finder {
	return func(s string, _ time.Time) (spans []span, ok bool) {
		var f finding
		for i, r := range s {
			if is(r) {
				f.add(i, i+utf8.RuneLen(r))
			}
		}
		f.upTo(len(s))
		return f.spans, true
	}
}

func (d *definition) readPunctuation(raw json.RawMessage) error {
	var p struct {
		Type     string  `json:"type"`
		Behavior *string `json:"behavior"`
	}
	if err := decodeStrict("pre_tokenizer", raw, &p); err != nil {
		return err
	}
	b := isolated
	if p.Behavior != nil {
		var err error
		if b, err = readBehavior(*p.Behavior); err != nil {
			return err
		}
	}
	return d.addStep(splitStep(findEach(isPunctuation), b, false))
}
