package text

import (
	"fmt"

	"github.com/cbactor/cbactor/checkpoint"
)

// preTokenizer is what a name in tokenizer.ggml.pre stands for.
type preTokenizer struct {
	steps        pipeline
	ignoreMerges bool // words that are a token are not merged
	nfc          bool // as the model's tokenizer.json says
}

// preTokenizers are the names that llama.cpp gives to pre-tokenizers
// (ggml-org/llama.cpp, src/llama-vocab.cpp). "smollm" is read as Transformers
// 5.23.0 reads it, whose ids are the reference: the pattern of GPT-2 alone.
// llama.cpp cuts at every digit first, which gives other ids only for white
// space before a number and for numbers beyond 0-9, as the vocabulary has no
// tokens of several digits.
var preTokenizers = map[string]preTokenizer{
	"gpt-2":     {steps: pipeline{{next: nextGPT2}}},
	"smollm":    {steps: pipeline{{next: nextGPT2}}},
	"starcoder": {steps: pipeline{{next: nextNumber}, {next: nextGPT2}}},
	"refact":    {steps: pipeline{{next: nextNumber}, {next: nextGPT2}}},
	"command-r": {steps: pipeline{{next: nextNumber}, {next: nextGPT2}}},
	"llama-bpe": {steps: pipeline{{next: nextLlama3}}, ignoreMerges: true},
	"qwen2":     {steps: pipeline{{next: nextQwen2}}, nfc: true},
}

// fromVocab reads the vocabulary of a GGUF file.
func fromVocab(v *checkpoint.Vocab) (*Codec, error) {
	if v.Model != "gpt2" {
		return nil, fmt.Errorf("%w: tokenizer.ggml.model %.40q", ErrUnsupported, v.Model)
	}
	pre, ok := preTokenizers[v.Pre]
	if !ok {
		return nil, fmt.Errorf("%w: tokenizer.ggml.pre %.40q", ErrUnsupported, v.Pre)
	}
	if v.Types != nil && len(v.Types) != len(v.Tokens) {
		return nil, fmt.Errorf("%w: %d tokens and %d token types", ErrMalformed, len(v.Tokens), len(v.Types))
	}
	d := definition{tokens: v.Tokens, ignoreMerges: pre.ignoreMerges, unk: none, nfc: pre.nfc, pre: pre.steps}
	vocab := make(map[string]int32, len(v.Tokens))
	for id, token := range v.Tokens {
		if _, twice := vocab[token]; !twice { // padding may repeat a token, the first one counts
			vocab[token] = int32(id)
		}
	}
	for id, kind := range v.Types {
		switch kind {
		case checkpoint.TokenControl, checkpoint.TokenUnknown, checkpoint.TokenUserDefined:
			d.added = append(d.added, addedToken{id: int32(id), content: v.Tokens[id], special: kind != checkpoint.TokenUserDefined})
		}
	}
	for _, joined := range v.Merges {
		var p mergePair
		if err := p.parse(joined); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		d.merges = append(d.merges, p)
	}
	if err := d.addEnds(v); err != nil {
		return nil, err
	}
	return d.codec(vocab)
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
