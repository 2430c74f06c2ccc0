package text

// wordModel turns words into tokens. It is safe for concurrent use.
type wordModel interface {
	// appendWord appends the tokens of a word, valid UTF-8 and not empty, to dst.
	appendWord(dst []int32, word string) []int32

	// appendWithout is appendWord without some tokens, as far as the model can do
	// without them: it may have them still.
	appendWithout(dst []int32, word string, never map[int32]bool) []int32
}

// none stands for a token that the vocabulary does not have.
const none = -1

// cached is a model that remembers what it made of words.
type cached struct {
	model wordModel
	words wordCache
}

func (c *cached) appendWord(dst []int32, word string) []int32 {
	if ids, ok := c.words.get(word); ok {
		return append(dst, ids...)
	}
	first := len(dst)
	dst = c.model.appendWord(dst, word)
	c.words.put(word, dst[first:])
	return dst
}

// appendAnew is appendWithout of the model, past what is remembered.
func (c *cached) appendAnew(dst []int32, word string, never map[int32]bool) []int32 {
	return c.model.appendWithout(dst, word, never)
}

// byteTokens are the tokens of single bytes; none: the vocabulary has no such.
type byteTokens [256]int32

// newByteTokens looks them up in a vocabulary under a name for each byte. all says
// whether it has every one of them.
func newByteTokens(vocab map[string]int32, name func(byte) string) (tokens byteTokens, all bool) {
	all = true
	for b := range tokens {
		id, ok := vocab[name(byte(b))]
		if !ok {
			id, all = none, false
		}
		tokens[b] = id
	}
	return tokens, all
}

// appendBytes appends the tokens of the bytes of s; ok is false, and nothing
// appended, when one has none.
func (t *byteTokens) appendBytes(dst []int32, s string) (ids []int32, ok bool) {
	first := len(dst)
	for i := range len(s) {
		id := t[s[i]]
		if id == none {
			return dst[:first], false
		}
		dst = append(dst, id)
	}
	return dst, true
}
