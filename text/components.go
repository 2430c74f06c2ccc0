package text

import (
	"encoding/json"
	"fmt"
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

func (d *definition) readNormalizer(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	name, err := typeOf("normalizer", raw)
	if err != nil {
		return err
	}
	switch name {
	case "NFC":
		d.nfc = true
		return nil
	case "Sequence":
		var sequence struct {
			Type        string            `json:"type"`
			Normalizers []json.RawMessage `json:"normalizers"`
		}
		if err := decodeStrict("normalizer", raw, &sequence); err != nil {
			return err
		}
		return d.each(sequence.Normalizers, d.readNormalizer)
	}
	return refuse("normalizer", name)
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
	switch name {
	case "ByteLevel":
		var b byteLevel
		if err := decodeStrict(what, raw, &b); err != nil {
			return err
		}
		s := step{prefixSpace: b.AddPrefixSpace}
		if b.UseRegex == nil || *b.UseRegex {
			s.next = nextGPT2
		}
		if err := d.addStep(s); err != nil {
			return err
		}
		d.byteLevel = true
		return nil
	case "Digits":
		var digits struct {
			Type       string `json:"type"`
			Individual bool   `json:"individual_digits"`
		}
		if err := decodeStrict(what, raw, &digits); err != nil {
			return err
		}
		next := nextDigits
		if digits.Individual {
			next = nextDigit
		}
		return d.addStep(step{next: next})
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

// readSplit reads a Split step: one of the known patterns, whose matches are
// the pieces.
func (d *definition) readSplit(raw json.RawMessage) error {
	var split struct {
		Type    string `json:"type"`
		Pattern struct {
			Regex  string `json:"Regex"`
			String string `json:"String"`
		} `json:"pattern"`
		Behavior string `json:"behavior"`
		Invert   bool   `json:"invert"`
	}
	if err := decodeStrict("pre_tokenizer", raw, &split); err != nil {
		return err
	}
	next, ok := patterns[split.Pattern.Regex]
	if !ok {
		return fmt.Errorf("%w: Split pattern %.300q", ErrUnsupported, split.Pattern.Regex+split.Pattern.String)
	}
	if split.Behavior != "Isolated" || split.Invert {
		return fmt.Errorf("%w: Split behavior %.40q, invert %t", ErrUnsupported, split.Behavior, split.Invert)
	}
	return d.addStep(step{next: next})
}

// addStep appends a step. None may follow ByteLevel, as it would have to read
// that step's alphabet.
func (d *definition) addStep(s step) error {
	if d.byteLevel {
		return fmt.Errorf("%w: a pre_tokenizer after ByteLevel", ErrUnsupported)
	}
	d.pre = append(d.pre, s)
	return nil
}

func readDecoder(raw json.RawMessage) error {
	name := "null"
	if !isNull(raw) {
		var err error
		if name, err = typeOf("decoder", raw); err != nil {
			return err
		}
	}
	if name != "ByteLevel" {
		return refuse("decoder", name)
	}
	return decodeStrict("decoder", raw, new(byteLevel))
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
