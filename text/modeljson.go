package text

import (
	"encoding/json"
	"fmt"
)

// readModel reads the model of a tokenizer.json. vocab maps its tokens to their ids.
func (d *definition) readModel(raw json.RawMessage) (vocab map[string]int32, err error) {
	if isNull(raw) {
		return nil, fmt.Errorf("%w: no model", ErrMalformed)
	}
	name, err := typeOf("model", raw)
	if err != nil {
		return nil, err
	}
	switch name {
	case "BPE", "": // the oldest files, all BPE, do not name it
		return d.readBPE(raw)
	case "Unigram":
		return d.readUnigram(raw)
	}
	return nil, refuse("model", name)
}

// unigramModel is a Unigram model; a token's id is its place in the list.
type unigramModel struct {
	Type         string  `json:"type"`
	UnkID        *int32  `json:"unk_id"`
	ByteFallback bool    `json:"byte_fallback"`
	Vocab        []piece `json:"vocab"`
}

// piece is a token and the logarithm of its probability, written ["a",-1.5].
type piece struct {
	text  string
	score float64
}

// UnmarshalJSON reads the two.
func (p *piece) UnmarshalJSON(raw []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("a token of %d parts", len(parts))
	}
	if err := json.Unmarshal(parts[0], &p.text); err != nil {
		return err
	}
	return json.Unmarshal(parts[1], &p.score)
}

func (d *definition) readUnigram(raw json.RawMessage) (vocab map[string]int32, err error) {
	var m unigramModel
	if err := decodeStrict("model", raw, &m); err != nil {
		return nil, err
	}
	switch {
	case len(m.Vocab) == 0:
		return nil, fmt.Errorf("%w: empty vocabulary", ErrMalformed)
	case m.UnkID == nil:
		return nil, fmt.Errorf("%w: Unigram without unk_id", ErrUnsupported)
	case *m.UnkID < 0 || int(*m.UnkID) >= len(m.Vocab):
		return nil, fmt.Errorf("%w: unk_id %d of %d tokens", ErrMalformed, *m.UnkID, len(m.Vocab))
	}
	d.unk, d.byteFallback = *m.UnkID, m.ByteFallback
	vocab = make(map[string]int32, len(m.Vocab))
	for id, p := range m.Vocab {
		d.tokens = append(d.tokens, p.text)
		d.scores = append(d.scores, p.score)
		vocab[p.text] = int32(id)
	}
	return vocab, nil
}
