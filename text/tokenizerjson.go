package text

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// tokenizerFile is a tokenizer.json. Truncation and padding are for training
// and are not looked at, as the reference does not when it encodes a prompt.
type tokenizerFile struct {
	Version       string          `json:"version"`
	Truncation    json.RawMessage `json:"truncation"`
	Padding       json.RawMessage `json:"padding"`
	AddedTokens   []addedEntry    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         json.RawMessage `json:"model"`
}

type addedEntry struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Lstrip     bool   `json:"lstrip"`
	Rstrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// fromTokenizerJSON reads a tokenizer.json.
func fromTokenizerJSON(data []byte) (*Codec, error) {
	var file tokenizerFile
	if err := decodeStrict("file", data, &file); err != nil {
		return nil, err
	}
	var d definition
	vocab, err := d.readModel(file.Model)
	if err != nil {
		return nil, err
	}
	if err := d.addTokens(file.AddedTokens, vocab); err != nil {
		return nil, err
	}
	if err := d.readNormalizer(file.Normalizer); err != nil {
		return nil, err
	}
	if err := d.readPreTokenizer(file.PreTokenizer); err != nil {
		return nil, err
	}
	if err := d.readPostProcessor(file.PostProcessor); err != nil {
		return nil, err
	}
	if err := d.readDecoder(file.Decoder); err != nil {
		return nil, err
	}
	return d.codec(vocab)
}

// addTokens puts the added tokens into the table of tokens.
func (d *definition) addTokens(entries []addedEntry, vocab map[string]int32) error {
	for _, e := range entries {
		if err := checkID(e.ID, len(vocab)+len(entries)); err != nil {
			return err
		}
		if id, ok := vocab[e.Content]; ok && id != e.ID {
			return fmt.Errorf("%w: token %.40q has ids %d and %d", ErrMalformed, e.Content, id, e.ID)
		}
		if int(e.ID) < len(d.tokens) && d.tokens[e.ID] != "" && d.tokens[e.ID] != e.Content {
			return fmt.Errorf("%w: token %d is %.40q and %.40q", ErrMalformed, e.ID, d.tokens[e.ID], e.Content)
		}
		d.setToken(e.ID, e.Content)
		d.added = append(d.added, addedToken{id: e.ID, content: e.Content, special: e.Special,
			singleWord: e.SingleWord, lstrip: e.Lstrip, rstrip: e.Rstrip, normalized: e.Normalized})
	}
	return nil
}

// setToken enters a token whose id was checked, making room for it.
func (d *definition) setToken(id int32, token string) {
	if missing := int(id) + 1 - len(d.tokens); missing > 0 {
		d.tokens = append(d.tokens, make([]string, missing)...)
	}
	d.tokens[id] = token
}

// isNull says whether a member is missing or null.
func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// typeOf is the type that a component names.
func typeOf(what string, raw json.RawMessage) (string, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrMalformed, what, err)
	}
	return head.Type, nil
}

// decodeStrict parses one JSON value and nothing after it; a member that is not known is an error,
// as it may change what the rest means.
func decodeStrict(what string, raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, what, err)
	}
	if decoder.More() {
		return fmt.Errorf("%w: %s: something follows it", ErrMalformed, what)
	}
	return nil
}
