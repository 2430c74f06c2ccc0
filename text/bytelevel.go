package text

// The byte-level alphabet of GPT-2: every byte is written as one character, so
// that vocabularies can be kept as text. Printable bytes of Latin-1 stand for
// themselves, the 68 others for U+0100 and up, in their order (openai/gpt-2,
// encoder.py, bytes_to_unicode).
var (
	byteToChar = byteAlphabet()
	charToByte = invert(byteToChar)
)

func byteAlphabet() (alphabet [256]rune) {
	next := rune(0x100)
	for i := range alphabet {
		switch {
		case i >= '!' && i <= '~', i >= 0xA1 && i <= 0xAC, i >= 0xAE:
			alphabet[i] = rune(i)
		default:
			alphabet[i] = next
			next++
		}
	}
	return alphabet
}

func invert(alphabet [256]rune) map[rune]byte {
	m := make(map[rune]byte, len(alphabet))
	for b, r := range alphabet {
		m[r] = byte(b)
	}
	return m
}

// fromByteLevel is the bytes that a token in the alphabet stands for; ok is
// false when it has a character that is not in the alphabet.
func fromByteLevel(token string) (bytes []byte, ok bool) {
	bytes = make([]byte, 0, len(token))
	for _, r := range token {
		b, known := charToByte[r]
		if !known {
			return nil, false
		}
		bytes = append(bytes, b)
	}
	return bytes, true
}

// byteToken is the token of a single byte.
func byteToken(b byte) string {
	return string(byteToChar[b])
}
