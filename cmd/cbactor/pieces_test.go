package main

import (
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/text"
)

// Places are those of the text in bytes, also where a token is a part of a character.
func TestPieces(t *testing.T) {
	codec, err := loadCodec(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{"", "Once upon a time", "wörld 你好 🙂", "<|im_end|> in the middle"} {
		raw := codec.EncodeRaw(input)
		list := piecesOf(codec, input, codec.Encode(input), raw)
		if len(list) != len(raw)+1 || list[0].From != nil {
			t.Fatalf("%q: %d pieces, the first at %v", input, len(list), list[0].From)
		}
		at := 0
		for i, p := range list[1:] {
			if p.From == nil || *p.From != at || input[*p.From:*p.To] != string(codec.Spell(raw[i])) {
				t.Errorf("%q: piece %d is at %s and spells %q", input, i, p.place(), p.Text)
				break
			}
			at = *p.To
		}
		if at != len(input) {
			t.Errorf("%q: the pieces end at %d", input, at)
		}
	}
}

// Tokens that spell another text have no places.
func TestAlign(t *testing.T) {
	codec, err := loadCodec(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	spaced := codec.EncodeRaw(" Once upon")
	for _, x := range []struct {
		input string
		ids   []int32
		want  bool
	}{
		{"Once upon", spaced, true}, // a space before a text may be the tokenizer's
		{" Once upon", spaced, true},
		{"Once", spaced, false},
		{"once upon", spaced, false},
		{"Once upon a", spaced, false},
	} {
		if got := align(codec, []byte(x.input), x.ids); (got != nil) != x.want {
			t.Errorf("%q: %v", x.input, got)
		}
	}
}

// What tokenize shows is what a conversation of text is made of.
func TestRenderChatIsWhatIsEncoded(t *testing.T) {
	codec, err := loadCodec(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	talk := []text.Message{{Role: "user", Content: "Hi"}}
	for _, o := range []text.ChatOptions{{}, {NoGenerationPrompt: true}} {
		rendered, err := codec.RenderChat(talk, o)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := codec.EncodeChatWith(talk, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := codec.DecodeAll(ids); got != rendered {
			t.Errorf("%+v: ids of %q, rendered %q", o, got, rendered)
		}
	}
}
