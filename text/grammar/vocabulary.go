package grammar

import (
	"bytes"
	"slices"

	"github.com/cbactor/cbactor/text"
)

// Vocabulary is the texts of a model's tokens as a trie. It is read only, and one serves
// all grammars of a model.
type Vocabulary struct {
	size  int
	ids   []int32    // of tokens with a text, in the order of the texts
	bytes []byte     // of all texts, one after the other
	ends  []uint32   // by id, where a token's bytes end
	nodes []trieNode // in preorder; the first is the root, the last stands behind all
	depth int        // of the trie
}

// trieNode is a prefix of texts of tokens.
type trieNode struct {
	after int32  // the first node that is not below it
	ids   int32  // where the ids of tokens with this text begin, which end where the next node's begin
	depth uint16 // bytes
	b     byte   // the last
}

// NewVocabulary makes the vocabulary of a codec. Tokens that it does not show, such as
// special tokens and those that end a text, are in no text of a grammar.
func NewVocabulary(codec *text.Codec) *Vocabulary {
	return newVocabulary(codec.VocabSize(), codec.TokenBytes)
}

// maxToken is the length of the longest text of a token.
const maxToken = 1<<16 - 1

func newVocabulary(size int, text func(id int32) []byte) *Vocabulary {
	v := &Vocabulary{size: size, ends: make([]uint32, size)}
	for id := range size {
		if t := text(int32(id)); len(t) > 0 && len(t) <= maxToken {
			v.bytes = append(v.bytes, t...)
			v.ids = append(v.ids, int32(id))
		}
		v.ends[id] = uint32(len(v.bytes))
	}
	slices.SortStableFunc(v.ids, func(a, b int32) int { return bytes.Compare(v.text(a), v.text(b)) })
	v.grow()
	return v
}

// text is the bytes of a token; nil: it has none here.
func (v *Vocabulary) text(id int32) []byte {
	if id < 0 || int(id) >= v.size {
		return nil
	}
	begin := uint32(0)
	if id > 0 {
		begin = v.ends[id-1]
	}
	return v.bytes[begin:v.ends[id]]
}

// grow makes the trie of the sorted ids.
func (v *Vocabulary) grow() {
	v.nodes = []trieNode{{}}
	path := []int32{0} // nodes of the last text, by depth
	leave := func(depth int) {
		for _, n := range path[depth:] {
			v.nodes[n].after = int32(len(v.nodes))
		}
		path = path[:depth]
	}
	var last []byte
	for i, id := range v.ids {
		now := v.text(id)
		common := 0
		for common < len(last) && common < len(now) && last[common] == now[common] {
			common++
		}
		leave(common + 1)
		for k := common; k < len(now); k++ {
			path = append(path, int32(len(v.nodes)))
			v.nodes = append(v.nodes, trieNode{ids: int32(i), depth: uint16(k + 1), b: now[k]})
		}
		v.depth = max(v.depth, len(now))
		last = now
	}
	leave(0)
	v.nodes = append(v.nodes, trieNode{ids: int32(len(v.ids))})
}

// words is the length of a set of ids.
func (v *Vocabulary) words() int { return (v.size + 63) / 64 }
