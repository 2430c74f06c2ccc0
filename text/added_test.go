package text

import (
	"slices"
	"testing"
)

// Texts that the reference (tokenizers 0.23.3) was asked about. In this
// vocabulary ADDED (465) is a single word, <tool> (464) takes the white space
// after it and [MASK] (463) that before it.
func TestAddedTokensAreFoundAsTheReferenceFindsThem(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	for _, x := range []struct {
		text string
		want []int32
	}{
		{"ADDED\u0301", []int32{32, 35, 35, 36, 35, 136, 223}}, // a mark is part of a word
		{"\u0903ADDED", []int32{156, 97, 225, 32, 35, 35, 36, 35}},
		{"ADDED\u200d", []int32{32, 35, 35, 36, 35, 158, 222, 235}}, // a joiner too
		{"_ADDED", []int32{62, 32, 35, 35, 36, 35}},
		{"ADDED\u24b6", []int32{32, 35, 35, 36, 35, 158, 240, 114}}, // an alphabetic symbol
		{"ADDED\u2160", []int32{32, 35, 35, 36, 35, 158, 227, 254}}, // a Roman number
		{"9ADDED", []int32{24, 32, 35, 35, 36, 35}},
		{"ADDED-", []int32{465, 12}},
		{"ADDED\u00b2", []int32{465, 126, 110}}, // a superscript is not
		{"ADDED ADDED", []int32{465, 220, 465}},
		{"ADDEDADDED ADDED", []int32{32, 35, 35, 36, 35, 32, 35, 35, 36, 35, 220, 465}},
		{"<tool>   \n[MASK] x", []int32{464, 463, 220, 87}},
		{"  [MASK]  ADDED<tool>  ADDED", []int32{463, 392, 465, 464, 465}},
	} {
		if got := c.EncodeRaw(x.text); !slices.Equal(got, x.want) {
			t.Errorf("%+q: %v, want %v", x.text, got, x.want)
		}
	}
}

func TestTheLongestAddedTokenWins(t *testing.T) {
	m := newMatcher([]addedToken{{id: 1, content: "ab"}, {id: 2, content: "abcd"}, {id: 3, content: "c"}, {id: 4}})
	var got []int32
	plain := 0
	m.split("xabcabcdabc", func(string, int) { plain++ }, func(id int32) { got = append(got, id) })
	if !slices.Equal(got, []int32{1, 3, 2, 1, 3}) || plain != 1 {
		t.Errorf("%v with %d texts between", got, plain)
	}
}
