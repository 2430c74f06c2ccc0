package text

import (
	"encoding/json"
	"fmt"
	"time"
)

// pattern is what Split and Replace look for: a text or a regular expression.
type pattern struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

// maxPatterns is how many bytes all expressions of a file have together: a class of
// characters, which takes few, is compiled in milliseconds.
const maxPatterns = 2 * maxPattern

// check refuses a pattern that is not one of the two, empty, or one expression too many.
func (d *definition) check(p *pattern) error {
	if (p.String == nil) == (p.Regex == nil) {
		return fmt.Errorf("%w: a pattern that is not either String or Regex", ErrMalformed)
	}
	if p.text() == "" {
		return fmt.Errorf("%w: an empty pattern", ErrUnsupported)
	}
	if p.Regex == nil {
		return nil
	}
	if d.patterns += len(*p.Regex); d.patterns > maxPatterns {
		return fmt.Errorf("%w: patterns of more than %d bytes together", ErrUnsupported, maxPatterns)
	}
	return nil
}

func (p *pattern) text() string {
	if p.String != nil {
		return *p.String
	}
	return *p.Regex
}

// forms are the normalizers that have no options.
var forms = map[string]func(string) string{
	"NFC": nfc, "NFD": nfd, "NFKC": nfkc, "NFKD": nfkd,
	"Lowercase": lowercase, "StripAccents": stripAccents,
}

func (d *definition) readNormalizer(raw json.RawMessage) error {
	const what = "normalizer"
	if isNull(raw) {
		return nil
	}
	name, err := typeOf(what, raw)
	if err != nil {
		return err
	}
	if f, ok := forms[name]; ok {
		d.normal = append(d.normal, plain(f))
		return decodeStrict(what, raw, new(struct{ Type string }))
	}
	switch name {
	case "Strip":
		var s struct {
			Type  string `json:"type"`
			Left  bool   `json:"strip_left"`
			Right bool   `json:"strip_right"`
		}
		if err := decodeStrict(what, raw, &s); err != nil {
			return err
		}
		d.normal = append(d.normal, plain(strip(s.Left, s.Right)))
		return nil
	case "Prepend":
		var p struct {
			Type    string `json:"type"`
			Prepend string `json:"prepend"`
		}
		if err := decodeStrict(what, raw, &p); err != nil {
			return err
		}
		d.normal = append(d.normal, plain(prepend(p.Prepend)))
		return d.normalGrowth.by(what, 1+len(p.Prepend))
	case "Replace":
		return d.readReplace(raw)
	case "Precompiled":
		return d.readPrecompiled(raw)
	case "Sequence":
		var sequence struct {
			Type        string            `json:"type"`
			Normalizers []json.RawMessage `json:"normalizers"`
		}
		if err := decodeStrict(what, raw, &sequence); err != nil {
			return err
		}
		return d.each(sequence.Normalizers, d.readNormalizer)
	}
	return refuse(what, name)
}

func (d *definition) readReplace(raw json.RawMessage) error {
	var r struct {
		Type    string  `json:"type"`
		Pattern pattern `json:"pattern"`
		Content string  `json:"content"`
	}
	if err := decodeStrict("normalizer", raw, &r); err != nil {
		return err
	}
	if err := d.check(&r.Pattern); err != nil {
		return err
	}
	if r.Pattern.String != nil {
		d.normal = append(d.normal, plain(replaceAll(*r.Pattern.String, r.Content)))
		return d.normalGrowth.replacing("normalizer", *r.Pattern.String, r.Content)
	}
	e, err := compile(*r.Pattern.Regex)
	if err != nil {
		return err
	}
	d.normal = append(d.normal, func(s string, until time.Time) (string, bool) {
		return e.replace(s, r.Content, until)
	})
	return d.normalGrowth.by("normalizer", 1+len(r.Content)) // it may match between any two bytes
}
