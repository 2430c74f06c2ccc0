package text

import (
	"encoding/json"
	"fmt"
	"unicode"
)

// refuse is the error for a type of a component that is not known.
func refuse(what, name string) error {
	return fmt.Errorf("%w: %s type %.40q", ErrUnsupported, what, name)
}

// byteLevel is the component of that name, that is a pre-tokenizer,
// post-processor and decoder alike.
type byteLevel struct {
	Type           string `json:"type"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
	TrimOffsets    bool   `json:"trim_offsets"` // about offsets, which are not made here
	UseRegex       *bool  `json:"use_regex"`
}

// alone are the pre-tokenizers that have no options.
var alone = map[string]step{
	"Whitespace":      {next: nextWordOrSymbols, drop: startsWithSpace},
	"WhitespaceSplit": {next: runs(unicode.IsSpace), drop: startsWithSpace},
}

func (d *definition) readPreTokenizer(raw json.RawMessage) error {
	const what = "pre_tokenizer"
	if isNull(raw) {
		return nil
	}
	name, err := typeOf(what, raw)
	if err != nil {
		return err
	}
	if s, ok := alone[name]; ok {
		if err := decodeStrict(what, raw, new(struct{ Type string })); err != nil {
			return err
		}
		return d.addStep(s)
	}
	switch name {
	case "ByteLevel":
		return d.readByteLevelStep(raw)
	case "Metaspace":
		return d.readMetaspaceStep(raw)
	case "Digits":
		var digits struct {
			Type       string `json:"type"`
			Individual bool   `json:"individual_digits"`
		}
		if err := decodeStrict(what, raw, &digits); err != nil {
			return err
		}
		if digits.Individual {
			return d.addStep(step{next: each(isDigit)})
		}
		return d.addStep(step{next: runs(isDigit)})
	case "Punctuation":
		return d.readPunctuation(raw)
	case "Split":
		return d.readSplit(raw)
	case "Sequence":
		var sequence struct {
			Type          string            `json:"type"`
			PreTokenizers []json.RawMessage `json:"pretokenizers"`
		}
		if err := decodeStrict(what, raw, &sequence); err != nil {
			return err
		}
		return d.each(sequence.PreTokenizers, d.readPreTokenizer)
	}
	return refuse(what, name)
}

// readByteLevelStep reads the step behind which characters stand for bytes.
func (d *definition) readByteLevelStep(raw json.RawMessage) error {
	var b byteLevel
	if err := decodeStrict("pre_tokenizer", raw, &b); err != nil {
		return err
	}
	var s step
	if b.AddPrefixSpace {
		s.before = prefixSpace
	}
	if b.UseRegex == nil || *b.UseRegex {
		s.next = nextGPT2
	}
	if err := d.addStep(s); err != nil {
		return err
	}
	d.byteLevel = true
	return nil
}

// addStep appends a step, unless it does nothing. None may follow ByteLevel, as it
// would have to read that step's alphabet.
func (d *definition) addStep(s step) error {
	if d.byteLevel {
		return fmt.Errorf("%w: a pre_tokenizer after ByteLevel", ErrUnsupported)
	}
	if s.before != nil || s.next != nil || s.cut != nil {
		d.pre = append(d.pre, s)
	}
	return nil
}

// maxParts is how many parts all sequences of a file may have together; real
// ones have few. It also bounds how deep they nest.
const maxParts = 64

// each reads the parts of a sequence.
func (d *definition) each(parts []json.RawMessage, read func(json.RawMessage) error) error {
	d.parts += len(parts)
	if d.parts > maxParts {
		return fmt.Errorf("%w: sequences of more than %d parts", ErrUnsupported, maxParts)
	}
	for _, part := range parts {
		if err := read(part); err != nil {
			return err
		}
	}
	return nil
}
