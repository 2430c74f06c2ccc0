package requests

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// CheckText refuses a prompt that is empty, or that is not UTF-8: a tokenizer would
// take it with characters replaced.
func CheckText(s string) error {
	if s == "" {
		return errors.New("the prompt is empty: give some text")
	}
	if at := invalidUTF8(s); at >= 0 {
		return fmt.Errorf("the prompt is not UTF-8: byte %d is 0x%02x: convert it", at+1, s[at])
	}
	return nil
}

// checkUnicode refuses a line of JSON of which encoding/json would replace
// characters without a word.
func checkUnicode(line []byte) error {
	s := string(line)
	if at := invalidUTF8(s); at >= 0 {
		return fmt.Errorf("the line is not UTF-8: byte %d is 0x%02x: convert the file", at+1, s[at])
	}
	if half := loneSurrogate(s); half != "" {
		return fmt.Errorf("%s is half a character: its other half does not follow", half)
	}
	return nil
}

// invalidUTF8 is where s is not UTF-8, -1 when it is.
func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

// loneSurrogate finds an escape of JSON, as \ud83d, that is one half of a UTF-16
// pair without the other; "": there is none.
func loneSurrogate(s string) string {
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		first, ok := escaped(s[i:])
		if !ok || !utf16.IsSurrogate(first) {
			i++ // the character behind the backslash is no backslash of its own
			continue
		}
		second, ok := escaped(s[i+6:])
		if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
			return s[i : i+6]
		}
		i += 11
	}
	return ""
}

// escaped reads an escape \uXXXX at the begin of s.
func escaped(s string) (r rune, ok bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
