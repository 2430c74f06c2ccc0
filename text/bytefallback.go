package text

import (
	"fmt"
	"strconv"
)

// fallbackToken is the token of a byte in vocabularies that fall back to bytes for
// characters that they do not have: <0x41> is A (google/sentencepiece,
// src/util.cc, ByteToPiece).
func fallbackToken(b byte) string { return fmt.Sprintf("<0x%02X>", b) }

// fromFallback is the byte that a token of that form stands for, in either case of
// the digits.
func fromFallback(token string) (b byte, ok bool) {
	if len(token) != len("<0x41>") || token[:3] != "<0x" || token[5] != '>' {
		return 0, false
	}
	n, err := strconv.ParseUint(token[3:5], 16, 8)
	return byte(n), err == nil
}
