package text

import "unicode/utf8"

// nextGPT2 is the length of the first match of checkpoint.GPT2Pattern in s, which
// is not empty. The pattern matches at every place, so matches cover the text.
func nextGPT2(s string) int {
	if n := contraction(s); n > 0 {
		return n
	}
	kind, n := classAt(s, 0)
	if s[0] == ' ' && len(s) > 1 {
		if next, m := classAt(s, 1); next != space {
			kind, n = next, 1+m
		}
	}
	if kind == space {
		return spaceRun(s)
	}
	return runOf(kind, s, n)
}

// contraction is the length of an English ending in lower case that s starts
// with, 0 if there is none.
func contraction(s string) int {
	if s[0] != '\'' || len(s) < 2 {
		return 0
	}
	switch s[1] {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) > 2 {
		switch s[1:3] {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// spaceRun matches `\s+(?!\S)|\s+`: the white space that s starts with, but for
// its last character when a word follows, which that one goes with.
func spaceRun(s string) int {
	end := runOf(space, s, 0)
	if end == len(s) {
		return end
	}
	if _, last := utf8.DecodeLastRuneInString(s[:end]); last < end {
		return end - last
	}
	return end
}
