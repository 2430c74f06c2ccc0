package grammar

import "unicode/utf8"

// surrogates are the code points that no UTF-8 has.
const (
	surrogateMin rune = 0xD800
	surrogateMax rune = 0xDFFF
)

// utf8Sequences calls yield with sequences of ranges of bytes that spell the characters
// from lo to hi, each of them once: the range is cut where the number of bytes changes
// and where the last bytes do not have all values (R. Cox, "Regular Expression Matching
// in the Wild", 2010).
func utf8Sequences(lo, hi rune, yield func(lo, hi []byte)) {
	if lo > hi {
		return
	}
	if lo <= surrogateMax && hi >= surrogateMin {
		utf8Sequences(lo, surrogateMin-1, yield)
		utf8Sequences(surrogateMax+1, hi, yield)
		return
	}
	for _, last := range []rune{0x7F, 0x7FF, 0xFFFF} {
		if lo <= last && last < hi {
			utf8Sequences(lo, last, yield)
			utf8Sequences(last+1, hi, yield)
			return
		}
	}
	for n := 1; n < utf8.RuneLen(lo); n++ {
		tail := rune(1)<<(6*n) - 1 // bits of the last n bytes
		if lo&^tail == hi&^tail {
			break
		}
		if lo&tail != 0 {
			utf8Sequences(lo, lo|tail, yield)
			utf8Sequences(lo|tail+1, hi, yield)
			return
		}
		if hi&tail != tail {
			utf8Sequences(lo, hi&^tail-1, yield)
			utf8Sequences(hi&^tail, hi, yield)
			return
		}
	}
	yield(utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi))
}

// byteRange is an instruction that reads a byte, by what it does.
type byteRange struct {
	lo, hi byte
	next   int32
}

// runes reads a character of some ranges, [lo, hi] one after the other. Ends that are
// the same are emitted once.
func (b *builder) runes(ranges []rune, next int32) int32 {
	shared := make(map[byteRange]int32)
	all := dead
	for i := 0; i+1 < len(ranges) && b.err == nil; i += 2 {
		utf8Sequences(ranges[i], ranges[i+1], func(lo, hi []byte) {
			at := next
			for k := len(lo) - 1; k >= 0; k-- {
				r := byteRange{lo[k], hi[k], at}
				pc, ok := shared[r]
				if !ok {
					pc = b.bytes(lo[k], hi[k], at)
					shared[r] = pc
				}
				at = pc
			}
			all = b.either(all, at)
		})
	}
	return all
}
