package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// spelling is how ids become text: what every token adds to a text, and what is left
// out where a text starts.
type spelling struct {
	stages []func(token string) string // of a token that is not of bytes
	bytes  bool                        // tokens are in the byte-level alphabet
	growth growth                      // that stages make together
	hex    int                         // stages before tokens like <0x41> become bytes; none: they do not
	lead   string                      // what a text does not start with,
	limit  int                         // so many times,
	first  bool                        // within its first token
	fused  bool                        // while read: what follows sees the whole text
}

// of is the bytes that a token adds in the middle of a text.
func (s *spelling) of(token string) []byte {
	for i, stage := range s.stages {
		if b, ok := fromFallback(token); ok && i == s.hex {
			return []byte{b}
		}
		token = stage(token)
	}
	if b, ok := fromFallback(token); ok && s.hex == len(s.stages) {
		return []byte{b}
	}
	if s.bytes {
		if bytes, ok := fromByteLevel(token); ok {
			return bytes
		}
	}
	return []byte(token)
}

// readDecoder reads the decoder of a tokenizer.json.
func (d *definition) readDecoder(raw json.RawMessage) error {
	d.spell = spelling{hex: none}
	if isNull(raw) {
		return refuse("decoder", "null")
	}
	return d.readDecoderPart(raw)
}

func (d *definition) readDecoderPart(raw json.RawMessage) error {
	const what = "decoder"
	name, err := typeOf(what, raw)
	if err != nil {
		return err
	}
	s := &d.spell
	if s.bytes || s.lead != "" || s.fused && name != "Strip" && name != "Sequence" {
		return fmt.Errorf("%w: decoder %.40q behind others", ErrUnsupported, name)
	}
	switch name {
	case "ByteLevel":
		s.bytes = true
		return decodeStrict(what, raw, new(byteLevel))
	case "ByteFallback":
		if s.hex != none {
			return fmt.Errorf("%w: decoder ByteFallback twice", ErrUnsupported)
		}
		s.hex = len(s.stages)
		return decodeStrict(what, raw, new(struct{ Type string }))
	case "Fuse":
		s.fused = true
		return decodeStrict(what, raw, new(struct{ Type string }))
	case "Metaspace":
		m, scheme, err := readMetaspace(what, raw)
		if err != nil {
			return err
		}
		s.stages = append(s.stages, replaceAll(m.Replacement, " "))
		if scheme != "never" {
			s.lead, s.first = m.Replacement, true
		}
		return nil
	case "Replace":
		var r struct {
			Type    string  `json:"type"`
			Pattern pattern `json:"pattern"`
			Content string  `json:"content"`
		}
		if err := decodeStrict(what, raw, &r); err != nil {
			return err
		}
		if err := d.check(&r.Pattern); err != nil {
			return err
		}
		if r.Pattern.String == nil {
			return fmt.Errorf("%w: decoder Replace by a regular expression", ErrUnsupported)
		}
		s.stages = append(s.stages, replaceAll(*r.Pattern.String, r.Content))
		return s.growth.replacing(what, *r.Pattern.String, r.Content)
	case "Strip":
		return d.readStrip(raw)
	case "Sequence":
		var sequence struct {
			Type     string            `json:"type"`
			Decoders []json.RawMessage `json:"decoders"`
		}
		if err := decodeStrict(what, raw, &sequence); err != nil {
			return err
		}
		return d.each(sequence.Decoders, d.readDecoderPart)
	}
	return refuse(what, name)
}

// readStrip reads the stage that takes characters away where a token, or with Fuse
// the text, starts or ends.
func (d *definition) readStrip(raw json.RawMessage) error {
	var strip struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Start   int    `json:"start"`
		Stop    int    `json:"stop"`
	}
	if err := decodeStrict("decoder", raw, &strip); err != nil {
		return err
	}
	if utf8.RuneCountInString(strip.Content) != 1 || strip.Start < 0 || strip.Stop < 0 {
		return fmt.Errorf("%w: decoder Strip of %.40q, start %d, stop %d", ErrMalformed, strip.Content, strip.Start, strip.Stop)
	}
	if d.spell.fused {
		if strip.Stop > 0 {
			return fmt.Errorf("%w: decoder Strip at the end of a text", ErrUnsupported)
		}
		d.spell.lead, d.spell.limit = strip.Content, strip.Start
		return nil
	}
	d.spell.stages = append(d.spell.stages, func(token string) string {
		for n := strip.Start; n > 0 && strings.HasPrefix(token, strip.Content); n-- {
			token = token[len(strip.Content):]
		}
		for n := strip.Stop; n > 0 && strings.HasSuffix(token, strip.Content); n-- {
			token = token[:len(token)-len(strip.Content)]
		}
		return token
	})
	return nil
}
