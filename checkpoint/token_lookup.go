package checkpoint

import (
	"bytes"
	"math"
)

// lookUpToken finds a token's id in a tokenizer.json, -1 when it is not there: among the
// added tokens, else in the vocabulary, which has ids unless it is a list of pieces with
// scores.
func lookUpToken(tokenizer []byte, token string) (int32, error) {
	r := tokenReader{newJSONReader(bytes.NewReader(tokenizer)), token}
	added, known := int32(-1), int32(-1)
	r.take('{')
	for n := 0; r.more('}', &n); {
		switch string(r.key(len("added_tokens"))) {
		case "added_tokens":
			added = r.added()
		case "model":
			known = r.model()
		default:
			r.skip()
		}
	}
	r.end()
	if added >= 0 {
		known = added
	}
	return known, r.err
}

// tokenReader looks for a token.
type tokenReader struct {
	*jsonReader
	token string
}

// added is the token's id in a list of objects, -1 when it is not there.
func (r tokenReader) added() int32 {
	found := int32(-1)
	r.take('[')
	for n := 0; r.more(']', &n); {
		id, is := int32(-1), false
		r.take('{')
		for n := 0; r.more('}', &n); {
			switch string(r.key(len("content"))) {
			case "id":
				id = r.id()
			case "content":
				is = string(r.text(len(r.token))) == r.token
			default:
				r.skip()
			}
		}
		if is && found < 0 {
			found = id
		}
	}
	return found
}

// model is the token's id in the vocabulary of a model, -1 when it is not there.
func (r tokenReader) model() int32 {
	found := int32(-1)
	r.take('{')
	for n := 0; r.more('}', &n); {
		if string(r.key(len("vocab"))) != "vocab" || r.next() != '{' {
			r.skip()
			continue
		}
		r.take('{')
		for n := 0; r.more('}', &n); {
			if is := string(r.key(len(r.token))) == r.token; is {
				found = r.id()
			} else {
				r.skip()
			}
		}
	}
	return found
}

func (r tokenReader) id() int32 { return int32(min(r.whole(), math.MaxInt32)) }
