package text

import (
	"fmt"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
)

// Codec turns text into token ids and back. It is safe for concurrent use.
type Codec struct {
	model           *cached
	raw, normalized *matcher // added tokens, looked for before and after normalising
	normal          normalizers
	pre             pipeline
	prefix, suffix  []int32
	texts           *tokenTexts
	fill            map[int32]bool // what stands for text without a token: the unknown one, those of bytes
	unk             int32          // the unknown one; none: there is none
	chat            *chatTemplate  // nil: the model has none
	guard           *guard         // of its control tokens; nil: it has none that compiles
}

// Load makes the codec of a checkpoint from its tokenizer.json, or else from
// the vocabulary of its GGUF file. Errors: ErrNoTokenizer, ErrUnsupported,
// ErrMalformed. A chat template that cannot be used is no error here, as text
// works without it: EncodeChat says what is wrong with it.
func Load(c *checkpoint.Checkpoint) (*Codec, error) {
	codec, err := loadTokenizer(c)
	if err != nil {
		return nil, err
	}
	if c.Config != nil {
		for _, id := range c.Config.EOS {
			codec.texts.hide(id)
		}
	}
	if c.ChatTemplate != "" {
		codec.useTemplate(c.ChatTemplate, c.BOSToken, c.EOSToken)
	}
	return codec, nil
}

func loadTokenizer(c *checkpoint.Checkpoint) (*Codec, error) {
	switch {
	case c.TokenizerJSON != nil:
		codec, err := fromTokenizerJSON(c.TokenizerJSON)
		if err != nil {
			return nil, fmt.Errorf("tokenizer.json: %w", err)
		}
		if c.AddBOS != nil && *c.AddBOS != (len(codec.prefix) > 0) {
			return nil, fmt.Errorf("%w: tokenizer_config.json has add_bos_token %t and tokenizer.json does otherwise", ErrMalformed, *c.AddBOS)
		}
		return codec, nil
	case c.Vocab != nil:
		codec, err := fromVocab(c.Vocab)
		if err != nil {
			return nil, fmt.Errorf("GGUF vocabulary: %w", err)
		}
		return codec, nil
	}
	return nil, ErrNoTokenizer
}

// Encode is the token ids of text with what the tokenizer puts around a text,
// such as a start token. Text that spells a special token becomes that token. It is
// nil, as for no other text, where a pattern of the tokenizer does not come to an end
// on this one in time: see ErrPattern.
func (c *Codec) Encode(text string) []int32 {
	ids := append([]int32{}, c.prefix...)
	if ids = c.appendText(ids, text); ids == nil {
		return nil
	}
	return append(ids, c.suffix...)
}

// EncodeRaw is Encode with nothing put around the text.
func (c *Codec) EncodeRaw(text string) []int32 {
	return c.appendText([]int32{}, text)
}

// EncodeChat renders the messages with the model's chat template, so that an
// answer follows, and is the token ids of the result. Nothing is added: a start
// token is there when the template writes one. Control tokens are the template's
// alone: what a message spells like one is encoded as text. Errors: ErrNoTemplate,
// ErrTemplate, ErrControlToken, ErrPattern, ErrTooLong.
func (c *Codec) EncodeChat(messages []Message) ([]int32, error) {
	return c.EncodeChatWith(messages, ChatOptions{})
}

// Decode is the text of ids. Special tokens, tokens that end a text, and ids
// that no token has, are left out; bytes that are no UTF-8 become U+FFFD.
func (c *Codec) Decode(ids []int32) string {
	d := c.NewDecoder()
	return d.Push(ids) + d.Flush()
}

// DecodeAll is Decode that shows special tokens and those that end a text, too.
func (c *Codec) DecodeAll(ids []int32) string {
	d := c.NewDecoder()
	d.all = true
	return d.Push(ids) + d.Flush()
}

// Hiding is a codec like c that does not show these ids, such as a request's own
// stop ids, when it turns ids into text. Each costs a comparison a token.
func (c *Codec) Hiding(ids []int32) *Codec {
	less := *c
	less.texts = c.texts.hiding(ids)
	return &less
}

// Spell is the bytes that a token stands for, those that are not shown in a text too; nil
// for an id that no token has. They are read only, and need not be UTF-8.
func (c *Codec) Spell(id int32) []byte { return c.texts.of(id) }

// appendText appends the ids of text to dst: added tokens first, then the words
// between them. nil: a pattern did not come to an end.
func (c *Codec) appendText(dst []int32, text string) []int32 {
	until := patternsEnd(text)
	word := func(w string) { dst = c.model.appendWord(dst, w) }
	ok := c.cut(text, until, func(s string, first bool) bool {
		return c.pre.words(s, first, until, word)
	}, func(id int32) { dst = append(dst, id) })
	if !ok {
		return nil
	}
	return dst
}

// cut walks through a text and calls token for every added token, and plain for the
// normalised text between them, with whether the whole starts there. ok is false when
// a pattern did not come to an end in time, or plain says so.
func (c *Codec) cut(text string, until time.Time, plain func(s string, first bool) bool, token func(int32)) (ok bool) {
	ok = true
	c.raw.split(validUTF8(text), func(s string, start int) {
		normal, ends := c.normal.apply(s, until)
		if !ends {
			ok = false
			return
		}
		c.normalized.split(normal, func(s string, at int) {
			ok = ok && plain(s, start == 0 && at == 0)
		}, token)
	}, token)
	return ok
}

// VocabSize is how many ids there are, with those that no token has.
func (c *Codec) VocabSize() int { return len(c.texts.ends) }

// TokenBytes is what a token adds to a text behind its start; nil for one that is not shown. The bytes
// are read only; those of one token need not be UTF-8.
func (c *Codec) TokenBytes(id int32) []byte { return c.texts.shown(id) }
