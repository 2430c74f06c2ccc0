package text

import (
	"encoding/json"
	"fmt"
)

// templatePiece is one entry of a TemplateProcessing: a special token or a
// sequence.
type templatePiece struct {
	SpecialToken *templateRef `json:"SpecialToken"`
	Sequence     *templateRef `json:"Sequence"`
}

type templateRef struct {
	ID     string `json:"id"`
	TypeID int    `json:"type_id"`
}

// templateProcessing says what is put around a text. Pair is for two texts at
// once, which is not used here.
type templateProcessing struct {
	Type          string          `json:"type"`
	Single        []templatePiece `json:"single"`
	Pair          json.RawMessage `json:"pair"`
	SpecialTokens map[string]struct {
		ID     string   `json:"id"`
		IDs    []int32  `json:"ids"`
		Tokens []string `json:"tokens"`
	} `json:"special_tokens"`
}

func (d *definition) readPostProcessor(raw json.RawMessage) error {
	const what = "post_processor"
	if isNull(raw) {
		return nil
	}
	name, err := typeOf(what, raw)
	if err != nil {
		return err
	}
	switch name {
	case "ByteLevel": // only about offsets
		return decodeStrict(what, raw, new(byteLevel))
	case "TemplateProcessing":
		var t templateProcessing
		if err := decodeStrict(what, raw, &t); err != nil {
			return err
		}
		return d.applyTemplate(&t)
	case "Sequence":
		var sequence struct {
			Type       string            `json:"type"`
			Processors []json.RawMessage `json:"processors"`
		}
		if err := decodeStrict(what, raw, &sequence); err != nil {
			return err
		}
		return d.each(sequence.Processors, d.readPostProcessor)
	}
	return refuse(what, name)
}

// maxAround is how many tokens a processor puts around a text at most. A file can name the
// same ones again and again.
const maxAround = 1024

// applyTemplate sets the ids before and after the text, which is sequence A,
// once.
func (d *definition) applyTemplate(t *templateProcessing) error {
	var before, after []int32
	texts := 0
	for _, piece := range t.Single {
		switch {
		case piece.Sequence != nil && piece.Sequence.ID == "A":
			texts++
		case piece.SpecialToken != nil:
			special, ok := t.SpecialTokens[piece.SpecialToken.ID]
			if !ok {
				return fmt.Errorf("%w: post_processor names token %.40q and does not say its id", ErrMalformed, piece.SpecialToken.ID)
			}
			if len(before)+len(after)+len(special.IDs) > maxAround {
				return fmt.Errorf("%w: post_processor with more than %d tokens around a text", ErrUnsupported, maxAround)
			}
			for _, id := range special.IDs {
				if id < 0 || int(id) >= len(d.tokens) {
					return fmt.Errorf("%w: post_processor adds token %d, which does not exist", ErrMalformed, id)
				}
			}
			if texts == 0 {
				before = append(before, special.IDs...)
			} else {
				after = append(after, special.IDs...)
			}
		default:
			return fmt.Errorf("%w: post_processor with an unknown piece", ErrUnsupported)
		}
	}
	if texts != 1 {
		return fmt.Errorf("%w: post_processor has the text %d times", ErrUnsupported, texts)
	}
	// A later processor puts its tokens around what an earlier one made.
	d.prefix = append(before, d.prefix...)
	d.suffix = append(d.suffix, after...)
	return nil
}
