package text

import "unicode/utf8"

const replacement = "\uFFFD"

// partKind says what stands at the start of some bytes.
type partKind uint8

const (
	character  partKind = iota // a whole character
	illFormed                  // a maximal subpart that no character starts with
	unfinished                 // the start of a character, cut off by the end
)

// firstPart is the length and the kind of what b, not empty, starts with. An
// ill-formed part is as long as it is the start of a well-formed sequence, and
// at least one byte (the Unicode Standard, section 3.9, table 3-7 and
// "U+FFFD Substitution of Maximal Subparts").
func firstPart(b []byte) (int, partKind) {
	if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1 {
		return n, character
	}
	length, low, high := 0, byte(0x80), byte(0xBF) // of the sequence, and bounds of its second byte
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		length = 2
	case c >= 0xE0 && c <= 0xEF:
		length = 3
	case c >= 0xF0 && c <= 0xF4:
		length = 4
	default:
		return 1, illFormed
	}
	switch b[0] {
	case 0xE0:
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	n := 1
	for n < length && n < len(b) {
		if b[n] < low || b[n] > high {
			return n, illFormed
		}
		low, high = 0x80, 0xBF
		n++
	}
	return n, unfinished
}

// appendValid appends src to dst as valid UTF-8 with U+FFFD for every
// ill-formed part. An unfinished character at the end, 3 bytes at most, is left
// out and returned as rest, or replaced as well when final.
func appendValid(dst, src []byte, final bool) (out, rest []byte) {
	for len(src) > 0 {
		n, kind := firstPart(src)
		switch {
		case kind == character:
			dst = append(dst, src[:n]...)
		case kind == unfinished && !final:
			return dst, src
		default:
			dst = append(dst, replacement...)
		}
		src = src[n:]
	}
	return dst, nil
}

// validUTF8 is s with U+FFFD for every ill-formed part.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	out, _ := appendValid(make([]byte, 0, len(s)+16), []byte(s), true)
	return string(out)
}
