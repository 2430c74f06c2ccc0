package checkpoint

import (
	"fmt"
	"math"
	"strings"
)

const ggufTokens = "tokenizer.ggml."

// readVocab reads the vocabulary, nil when the file has none.
func readVocab(f *ggufFields) *Vocab {
	tokens := f.texts(ggufTokens + "tokens")
	if tokens == nil {
		return nil
	}
	v := &Vocab{
		Model:  f.text(ggufTokens+"model", ""),
		Pre:    f.text(ggufTokens+"pre", "default"),
		Tokens: tokens,
		Merges: f.texts(ggufTokens + "merges"),
		BOS:    f.id(ggufTokens + "bos_token_id"),
		EOS:    f.id(ggufTokens + "eos_token_id"),
		UNK:    f.id(ggufTokens + "unknown_token_id"),
		Pad:    f.id(ggufTokens + "padding_token_id"),
		AddEOS: f.bool(ggufTokens+"add_eos_token", false),
	}
	// A SentencePiece vocabulary puts its start token and a space first unless it
	// says otherwise.
	byScore := v.Model == "llama"
	v.AddBOS = f.bool(ggufTokens+"add_bos_token", byScore)
	v.AddSpacePrefix = f.bool(ggufTokens+"add_space_prefix", byScore)
	// Phi-3 and 3.5 alone have this architecture with such a vocabulary; files that were made
	// for another one are known by their names, as llama.cpp does it.
	name := strings.ToLower(f.text("general.name", ""))
	v.Phi3 = byScore && (f.text("general.architecture", "") == "phi3" || strings.Contains(name, "phi-3") || strings.Contains(name, "phi3"))
	v.Types = numbers(f, ggufTokens+"token_type", ggufInt32, func(bits uint32) TokenType { return TokenType(bits) })
	v.Scores = numbers(f, ggufTokens+"scores", ggufFloat32, math.Float32frombits)
	return v
}

// check compares the lists with each other and with the rows of the embedding,
// of which there may be more.
func (v *Vocab) check(rows int) error {
	n := len(v.Tokens)
	if n == 0 || n > rows {
		return fmt.Errorf("%w: %d tokens for an embedding of %d rows", ErrFormat, n, rows)
	}
	if v.Types != nil && len(v.Types) != n {
		return fmt.Errorf("%w: %d token types for %d tokens", ErrFormat, len(v.Types), n)
	}
	if v.Scores != nil && len(v.Scores) != n {
		return fmt.Errorf("%w: %d token scores for %d tokens", ErrFormat, len(v.Scores), n)
	}
	for _, id := range []int32{v.BOS, v.EOS, v.UNK, v.Pad} {
		if int(id) >= n {
			return fmt.Errorf("%w: special token %d of %d tokens", ErrFormat, id, n)
		}
	}
	return nil
}

// text is the text of a token, "" for none.
func (v *Vocab) text(id int32) string {
	if id < 0 || int(id) >= len(v.Tokens) {
		return ""
	}
	return v.Tokens[id]
}
