package checkpoint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cbactor/cbactor/model"
)

type object = map[string]any

// byteLevel turns bytes into the alphabet of GPT-2; words tells whether it splits
// text with GPT-2's pattern before.
func byteLevel(words bool) object {
	return object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": words}
}

// splits are the pre-tokenizers of a tokenizer.json that cut as p does: a Split for each
// pattern, but for GPT-2's where it comes last, which ByteLevel has itself.
func (p PreTokenizer) splits() []object {
	patterns, last := p.Patterns, len(p.Patterns)-1
	words := patterns[last] == GPT2Pattern
	if words {
		patterns = patterns[:last]
	}
	var list []object
	for _, pattern := range patterns {
		list = append(list, object{"type": "Split", "behavior": "Isolated", "invert": false, "pattern": object{"Regex": pattern}})
	}
	return append(list, byteLevel(words))
}

// normalizer is that of a tokenizer.json; nil: none.
func (p PreTokenizer) normalizer() any {
	if p.NFC {
		return object{"type": "NFC"}
	}
	return nil
}

// TokenizerJSON writes the vocabulary as a tokenizer.json. Control tokens become
// special added tokens, user-defined ones added tokens. It wraps
// model.ErrUnsupported for vocabularies other than byte-level BPE with a
// pre-tokenizer that is known.
func (v *Vocab) TokenizerJSON() ([]byte, error) {
	if v.Model != "gpt2" {
		return nil, fmt.Errorf("%w: tokenizer model %.80q cannot be written as tokenizer.json", model.ErrUnsupported, v.Model)
	}
	pre, ok := v.PreTokenizer()
	if !ok {
		return nil, fmt.Errorf("%w: pre-tokenizer %.80q is not known", model.ErrUnsupported, v.Pre)
	}
	vocab := make(map[string]int, len(v.Tokens))
	added := []object{}
	for id, token := range v.Tokens {
		if !utf8.ValidString(token) {
			return nil, fmt.Errorf("%w: token %d is not UTF-8", ErrFormat, id)
		}
		if _, ok := vocab[token]; !ok { // of equal tokens the first is the one that is found
			vocab[token] = id
		}
		if v.Types != nil && (v.Types[id] == TokenControl || v.Types[id] == TokenUserDefined) {
			added = append(added, object{"id": id, "content": token, "single_word": false, "lstrip": false,
				"rstrip": false, "normalized": false, "special": v.Types[id] == TokenControl})
		}
	}
	merges := make([][2]string, len(v.Merges))
	for rank, merge := range v.Merges {
		left, right, ok := strings.Cut(merge, " ")
		if !ok || left == "" || right == "" || !utf8.ValidString(merge) {
			return nil, fmt.Errorf("%w: merge %d is %.40q, not two tokens", ErrFormat, rank, merge)
		}
		merges[rank] = [2]string{left, right}
	}
	return plainJSON(object{
		"version": "1.0", "truncation": nil, "padding": nil,
		"added_tokens":   added,
		"normalizer":     pre.normalizer(),
		"pre_tokenizer":  object{"type": "Sequence", "pretokenizers": pre.splits()},
		"post_processor": v.postProcessor(),
		"decoder":        object{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
		"model": object{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false,
			"ignore_merges": pre.IgnoreMerges, "vocab": vocab, "merges": merges},
	}, "")
}

// postProcessor puts the start and end tokens around a text, nil when there are none.
func (v *Vocab) postProcessor() any {
	single := []object{}
	special := object{}
	mark := func(id int32) {
		token := v.text(id)
		single = append(single, object{"SpecialToken": object{"id": token, "type_id": 0}})
		special[token] = object{"id": token, "ids": []int32{id}, "tokens": []string{token}}
	}
	if v.AddBOS && v.BOS >= 0 {
		mark(v.BOS)
	}
	single = append(single, object{"Sequence": object{"id": "A", "type_id": 0}})
	if v.AddEOS && v.EOS >= 0 {
		mark(v.EOS)
	}
	if len(special) == 0 {
		return nil
	}
	pair := append([]object{}, single...)
	pair = append(pair, object{"Sequence": object{"id": "B", "type_id": 1}})
	return object{"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special}
}
