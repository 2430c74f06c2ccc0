package checkpoint

// TokenType says what kind of token an entry of a GGUF vocabulary is.
type TokenType int32

// The token types of GGUF (tokenizer.ggml.token_type).
const (
	TokenNormal      TokenType = 1
	TokenUnknown     TokenType = 2
	TokenControl     TokenType = 3 // special: not shown in text
	TokenUserDefined TokenType = 4 // matched whole before anything else, shown in text
	TokenUnused      TokenType = 5
	TokenByte        TokenType = 6 // one byte of the byte fallback
)

// Vocab is the tokenizer of a GGUF file as the file has it. A token's id is its
// index in Tokens. For Model "gpt2" tokens are in the byte-to-character alphabet
// of GPT-2.
type Vocab struct {
	Model  string      // "gpt2": byte-level BPE; "llama": SentencePiece by score; …
	Pre    string      // name of the pre-tokenizer: "smollm", "gpt-2", "llama-bpe", …
	Tokens []string    // valid UTF-8 is not promised
	Types  []TokenType // one per token; nil: all normal
	Scores []float32   // one per token; nil: none
	Merges []string    // "left right", in rank order; nil: none

	BOS, EOS, UNK, Pad int32 // token ids; -1: none

	AddBOS         bool // encoding puts BOS first
	AddEOS         bool // encoding puts EOS last
	AddSpacePrefix bool // encoding puts a space first
	Phi3           bool // added tokens are those of Phi-3: see StripsRight
}

// StripsRight says whether an added token takes the white space behind it along. Files do not
// say so; Phi-3's do, but for three (its tokenizer.json; llama.cpp, src/llama-vocab.cpp).
func (v *Vocab) StripsRight(id int32) bool {
	switch v.text(id) {
	case "<unk>", "<s>", "<|endoftext|>":
		return false
	}
	return v.Phi3
}
