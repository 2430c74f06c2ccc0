package text

import (
	"bytes"
	"slices"
	"strings"
)

// trie maps strings to numbers and finds those that a text starts with. Children
// of a node lie beside each other, so that a node is where they start. It is read
// only once it is made.
type trie struct {
	labels []byte  // by node, the byte that leads to it
	starts []int32 // by node, its first child; they end where the next node's start
	values []int32 // by node; none: no string ends here
}

// newTrie makes the trie of some strings, of which an empty one is never found. Of
// equal strings the last counts.
func newTrie(list []string) *trie {
	order := make([]int32, len(list))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return strings.Compare(list[a], list[b]) })
	type shared struct{ from, to, depth int32 } // of order: strings that share the first depth bytes
	t := &trie{labels: []byte{0}, values: []int32{none}}
	queue := []shared{{0, int32(len(order)), 0}}
	for at := 0; at < len(queue); at++ { // breadth first, so that children are numbered in a row
		s := queue[at]
		t.starts = append(t.starts, int32(len(t.labels)))
		for s.from < s.to && len(list[order[s.from]]) == int(s.depth) {
			if s.depth > 0 {
				t.values[at] = order[s.from]
			}
			s.from++
		}
		for s.from < s.to {
			label := list[order[s.from]][s.depth]
			end := s.from + 1
			for end < s.to && list[order[end]][s.depth] == label {
				end++
			}
			t.labels, t.values = append(t.labels, label), append(t.values, none)
			queue = append(queue, shared{s.from, end, s.depth + 1})
			s.from = end
		}
	}
	t.starts = append(t.starts, int32(len(t.labels)))
	return t
}

// child is the node behind at by b; 0: there is none.
func (t *trie) child(at int32, b byte) int32 {
	start := t.starts[at]
	i := bytes.IndexByte(t.labels[start:t.starts[at+1]], b)
	if i < 0 {
		return 0
	}
	return start + int32(i)
}

// longest is the value and the length of the longest string that s starts with;
// length 0: none.
func (t *trie) longest(s string) (value int32, length int) {
	at := int32(0)
	for i := range len(s) {
		if at = t.child(at, s[i]); at == 0 {
			break
		}
		if v := t.values[at]; v != none {
			value, length = v, i+1
		}
	}
	return value, length
}
