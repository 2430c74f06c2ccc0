package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/checkpoint"
)

// fromVocab reads the vocabulary of a GGUF file.
func fromVocab(v *checkpoint.Vocab) (*Codec, error) {
	if v.Types != nil && len(v.Types) != len(v.Tokens) {
		return nil, fmt.Errorf("%w: %d tokens and %d token types", ErrMalformed, len(v.Tokens), len(v.Types))
	}
	d := definition{tokens: v.Tokens, unk: none, spell: spelling{hex: none}}
	d.addTyped(v)
	if err := d.addEnds(v); err != nil {
		return nil, err
	}
	switch v.Model {
	case "gpt2":
		return d.byteLevelCodec(v)
	case "gemma4":
		return d.markedCodec(v)
	case "llama":
		return d.scoredCodec(v)
	}
	return nil, fmt.Errorf("%w: tokenizer.ggml.model %.40q", ErrUnsupported, v.Model)
}

// byteLevelCodec reads byte-level BPE.
func (d *definition) byteLevelCodec(v *checkpoint.Vocab) (*Codec, error) {
	pre, ok := v.PreTokenizer()
	if !ok {
		return nil, fmt.Errorf("%w: tokenizer.ggml.pre %.40q", ErrUnsupported, v.Pre)
	}
	var err error
	if d.pre, err = stepsOf(pre); err != nil {
		return nil, err
	}
	if pre.NFC {
		d.normal = normalizers{plain(nfc)}
	}
	if err := d.addMerges(v); err != nil {
		return nil, err
	}
	d.byteLevel, d.ignoreMerges, d.spell.bytes = true, pre.IgnoreMerges, true
	return d.codec(idsOf(v, anyToken))
}

// stepsOf are the steps of a pre-tokenizer that a GGUF file names.
func stepsOf(p checkpoint.PreTokenizer) (pipeline, error) {
	var all pipeline
	for _, pattern := range p.Patterns {
		s, err := isolating(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// markedCodec reads BPE by merges over characters, with marks for spaces. Line ends
// are cut off: a run of them is one token where there is one.
func (d *definition) markedCodec(v *checkpoint.Vocab) (*Codec, error) {
	if err := d.addMerges(v); err != nil {
		return nil, err
	}
	d.addMarks(v)
	d.pre = pipeline{{next: runs(func(r rune) bool { return r == '\n' })}}
	vocab := idsOf(v, anyToken)
	d.whole = make(map[string]int32)
	for token, id := range vocab {
		if strings.Trim(token, "\n") == "" {
			d.whole[token] = id
		}
	}
	return d.codec(vocab)
}

// scoredCodec reads SentencePiece's BPE.
func (d *definition) scoredCodec(v *checkpoint.Vocab) (*Codec, error) {
	var err error
	if d.pairs, err = pairsByScore(v, idsOf(v, isText)); err != nil {
		return nil, err
	}
	d.addMarks(v)
	return d.codec(idsOf(v, anyToken))
}

// addMarks has spaces written as marks and unknown characters as their bytes.
func (d *definition) addMarks(v *checkpoint.Vocab) {
	d.normal = normalizers{plain(replaceAll(" ", spaceMark))}
	if v.AddSpacePrefix {
		d.normal = append(d.normal, plain(prepend(spaceMark)))
		d.spell.lead, d.spell.limit = " ", 1
	}
	d.spell.stages, d.spell.hex = append(d.spell.stages, replaceAll(spaceMark, " ")), 1
	d.byteFallback, d.fuseUnk = true, true
	if d.unk = v.UNK; d.unk == none {
		d.unk = int32(slices.Index(v.Types, checkpoint.TokenUnknown))
	}
}

// anyToken and isText say which tokens of a type words are made of.
func anyToken(checkpoint.TokenType) bool { return true }

func isText(t checkpoint.TokenType) bool {
	return t == checkpoint.TokenNormal || t == checkpoint.TokenUserDefined
}

// idsOf are the ids of tokens. Padding may repeat one, the first counts.
func idsOf(v *checkpoint.Vocab, kind func(checkpoint.TokenType) bool) map[string]int32 {
	vocab := make(map[string]int32, len(v.Tokens))
	for id, token := range v.Tokens {
		if v.Types != nil && !kind(v.Types[id]) {
			continue
		}
		if _, twice := vocab[token]; !twice {
			vocab[token] = int32(id)
		}
	}
	return vocab
}

// addTyped adds the tokens that are found in a text as they are written.
func (d *definition) addTyped(v *checkpoint.Vocab) {
	for id, kind := range v.Types {
		switch kind {
		case checkpoint.TokenControl, checkpoint.TokenUnknown, checkpoint.TokenUserDefined:
			d.added = append(d.added, addedToken{id: int32(id), content: v.Tokens[id], special: kind != checkpoint.TokenUserDefined, rstrip: v.StripsRight(int32(id))})
		}
	}
}

// addMerges reads the merges.
func (d *definition) addMerges(v *checkpoint.Vocab) error {
	for _, joined := range v.Merges {
		var p mergePair
		if err := p.parse(joined); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		d.merges = append(d.merges, p)
	}
	return nil
}

// addEnds sets what the file wants around a text.
func (d *definition) addEnds(v *checkpoint.Vocab) error {
	end := func(id int32, add bool, name string) ([]int32, error) {
		if !add {
			return nil, nil
		}
		if id < 0 || int(id) >= len(d.tokens) {
			return nil, fmt.Errorf("%w: %s token %d is to be added and does not exist", ErrMalformed, name, id)
		}
		return []int32{id}, nil
	}
	var err error
	if d.prefix, err = end(v.BOS, v.AddBOS, "start"); err != nil {
		return err
	}
	d.suffix, err = end(v.EOS, v.AddEOS, "end")
	return err
}
