package text

import "strings"

// The pre-tokenizers of Llama 3 and Qwen2 differ in how many digits are a word.
func nextLlama3(s string) int { return nextCL100K(s, 3) }
func nextQwen2(s string) int  { return nextCL100K(s, 1) }

// nextCL100K is the length of the first match in s, which is not empty, of their
// patterns with digits characters of \p{N} in a word.
func nextCL100K(s string, digits int) int {
	if n := anyCaseContraction(s); n > 0 {
		return n
	}
	kind, n := classAt(s, 0)
	if kind == letter {
		return runOf(letter, s, n)
	}
	if kind == number {
		return numbers(s, digits)
	}
	if n < len(s) && s[0] != '\r' && s[0] != '\n' {
		if next, m := classAt(s, n); next == letter {
			return runOf(letter, s, n+m)
		}
	}
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	if end := runOf(other, s, start); end > start {
		return lineEnds(s, end)
	}
	if end := strings.LastIndexAny(s[:runOf(space, s, 0)], "\r\n"); end >= 0 {
		return end + 1
	}
	return spaceRun(s)
}

// anyCaseContraction is the length of an English ending in either case that s
// starts with, 0 if there is none. The long s folds to s in the reference.
func anyCaseContraction(s string) int {
	if s[0] != '\'' || len(s) < 2 {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if strings.HasPrefix(s[1:], "ſ") {
		return 1 + len("ſ")
	}
	if len(s) > 2 {
		switch [2]byte{s[1] | 0x20, s[2] | 0x20} {
		case [2]byte{'r', 'e'}, [2]byte{'v', 'e'}, [2]byte{'l', 'l'}:
			return 3
		}
	}
	return 0
}

// numbers is the length of the numbers that s starts with, at most limit.
func numbers(s string, limit int) int {
	end := 0
	for i := 0; i < limit && end < len(s); i++ {
		kind, n := classAt(s, end)
		if kind != number {
			break
		}
		end += n
	}
	return end
}

// lineEnds is the end of the line ends that follow at s[i].
func lineEnds(s string, i int) int {
	for i < len(s) && (s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}
