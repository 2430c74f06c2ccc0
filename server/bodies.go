package server

import "io"

// What bodies may cost. A word of JSON is anything but a number: a name, a string, a list, an
// object, true, false or null. In memory it takes up to a hundred times the bytes that it had,
// where lists of numbers take few more.
const (
	maxWords      = 64 << 10 // of a client's body
	maxAdminWords = 1 << 20  // of an administrator's: a manifest has ten for each tensor
	maxCommas     = 2 << 20  // and so at most as many numbers, and one more in each list

	heldBodies = 128      // times Limits.Body: bytes that the bodies of all open requests have together
	largeBody  = 64 << 10 // bytes; of bodies with more, so few are made values of at a time:
	decoders   = 2
)

// holding reads a body, whose bytes count as held until its request was answered.
type holding struct {
	body    io.Reader
	server  *Server
	account *account
}

// Read implements io.Reader.
func (h *holding) Read(p []byte) (int, error) {
	n, err := h.body.Read(p)
	h.account.held += int64(n)
	if h.server.held.Add(int64(n)) > heldBodies*h.server.limits.Body {
		return 0, errBodies
	}
	return n, err
}

// countable refuses a body whose lists and objects stand too deep within each other, or that
// has too many words or commas, before anything is made of it.
func countable(body []byte, most int) error {
	depth, words, commas, quoted := 0, 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; quoted {
				words++
			}
		case quoted:
		case c == '[' || c == '{':
			words++
			if depth++; depth > maxDepth {
				return badBody("it is nested more than %d deep", maxDepth)
			}
		case c == ']' || c == '}':
			depth--
		case c == 't' || c == 'f' || c == 'n': // with which true, false and null begin
			words++
		case c == ',':
			commas++
		}
	}
	switch {
	case words > most:
		return badBody("it has %d names, strings, lists, objects and the like, at most %d may be", words, most)
	case commas > maxCommas:
		return badBody("it has %d commas, at most %d may be: send fewer values", commas, maxCommas)
	}
	return nil
}
