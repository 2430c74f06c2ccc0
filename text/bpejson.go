package text

import (
	"encoding/json"
	"fmt"
	"strings"
)

// bpeModel is the model of a tokenizer.json.
type bpeModel struct {
	Type                    string           `json:"type"`
	Dropout                 *float64         `json:"dropout"`
	UnkToken                string           `json:"unk_token"`
	ContinuingSubwordPrefix string           `json:"continuing_subword_prefix"`
	EndOfWordSuffix         string           `json:"end_of_word_suffix"`
	FuseUnk                 bool             `json:"fuse_unk"`
	ByteFallback            bool             `json:"byte_fallback"`
	IgnoreMerges            bool             `json:"ignore_merges"`
	Vocab                   map[string]int32 `json:"vocab"`
	Merges                  []mergePair      `json:"merges"`
}

// mergePair is a merge, written ["a","b"] or, in older files, "a b".
type mergePair [2]string

// UnmarshalJSON reads either form.
func (p *mergePair) UnmarshalJSON(raw []byte) error {
	if raw[0] != '"' {
		var parts []string
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
		if len(parts) != 2 {
			return fmt.Errorf("a merge of %d tokens", len(parts))
		}
		p[0], p[1] = parts[0], parts[1]
		return nil
	}
	var joined string
	if err := json.Unmarshal(raw, &joined); err != nil {
		return err
	}
	return p.parse(joined)
}

// parse reads "left right".
func (p *mergePair) parse(joined string) error {
	left, right, ok := strings.Cut(joined, " ")
	if !ok || left == "" || right == "" || strings.Contains(right, " ") {
		return fmt.Errorf("a merge %.40q that is not two tokens", joined)
	}
	p[0], p[1] = left, right
	return nil
}

// readBPE reads the vocabulary and the merges.
func (d *definition) readBPE(raw json.RawMessage) (vocab map[string]int32, err error) {
	var m bpeModel
	if err := decodeStrict("model", raw, &m); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	for token, id := range m.Vocab {
		if err := checkID(id, len(m.Vocab)); err != nil {
			return nil, err
		}
		if int(id) < len(d.tokens) && d.tokens[id] != "" {
			return nil, fmt.Errorf("%w: token %d is %.40q and %.40q", ErrMalformed, id, d.tokens[id], token)
		}
		d.setToken(id, token)
	}
	d.unk = none
	if m.UnkToken != "" {
		id, ok := m.Vocab[m.UnkToken]
		if !ok {
			return nil, fmt.Errorf("%w: unk_token %.40q is not in the vocabulary", ErrMalformed, m.UnkToken)
		}
		d.unk, d.fuseUnk = id, m.FuseUnk
	}
	d.merges, d.ignoreMerges, d.byteFallback = m.Merges, m.IgnoreMerges, m.ByteFallback
	return m.Vocab, nil
}

// check refuses by name the options that are not done here.
func (m *bpeModel) check() error {
	switch {
	case m.Dropout != nil && *m.Dropout != 0:
		return fmt.Errorf("%w: BPE dropout", ErrUnsupported)
	case m.ContinuingSubwordPrefix != "":
		return fmt.Errorf("%w: BPE continuing_subword_prefix %.40q", ErrUnsupported, m.ContinuingSubwordPrefix)
	case m.EndOfWordSuffix != "":
		return fmt.Errorf("%w: BPE end_of_word_suffix %.40q", ErrUnsupported, m.EndOfWordSuffix)
	case len(m.Vocab) == 0:
		return fmt.Errorf("%w: empty vocabulary", ErrMalformed)
	}
	return nil
}
