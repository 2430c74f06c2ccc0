package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/text"
)

// piece is a token of a text as it is shown.
type piece struct {
	ID   int32  `json:"id"`
	From *int   `json:"from"` // its bytes in the text; null: it is not in it, or not known
	To   *int   `json:"to"`
	Text string `json:"text"` // that it stands for; parts of characters are U+FFFD
}

// place is where it stands.
func (p *piece) place() string {
	if p.From == nil {
		return "-"
	}
	return fmt.Sprintf("%d-%d", *p.From, *p.To)
}

// piecesOf are the tokens of a text. raw are those of ids that stand for the text itself.
func piecesOf(codec *text.Codec, input string, ids, raw []int32) []piece {
	list := make([]piece, len(ids))
	for i, id := range ids {
		list[i] = piece{ID: id, Text: string(bytes.ToValidUTF8(codec.Spell(id), []byte("\uFFFD")))}
	}
	before := indexOf(ids, raw)
	ends := align(codec, []byte(input), raw)
	if before < 0 || ends == nil {
		return list
	}
	from := 0
	for i, to := range ends {
		p := &list[before+i]
		p.From, p.To = new(int), new(int)
		*p.From, *p.To = from, to
		from = to
	}
	return list
}

// indexOf is where part stands in list, -1: nowhere.
func indexOf(list, part []int32) int {
	for i := 0; i+len(part) <= len(list); i++ {
		if slices.Equal(list[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// align finds where each token ends in a text. nil: the tokens together do not spell it,
// since the tokenizer changes texts. The first may have a space more, which some
// tokenizers put before a text.
func align(codec *text.Codec, input []byte, ids []int32) []int {
	ends := make([]int, len(ids))
	at := 0
	for i, id := range ids {
		spelt := codec.Spell(id)
		if i == 0 && !bytes.HasPrefix(input, spelt) {
			spelt = bytes.TrimPrefix(spelt, []byte(" "))
		}
		if !bytes.HasPrefix(input[at:], spelt) {
			return nil
		}
		at += len(spelt)
		ends[i] = at
	}
	if at != len(input) {
		return nil
	}
	return ends
}
