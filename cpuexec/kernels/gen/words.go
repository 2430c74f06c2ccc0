package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Tables of 32 bytes, twice the same 16 in two words.
var (
	lowBytes     = &lanes16{name: "lowBytes", words: [2]uint64{0x00ff00ff00ff00ff, 0x00ff00ff00ff00ff}}
	signs        = &lanes16{name: "signs", words: [2]uint64{0x8080808080808080, 0x8080808080808080}}
	evenOddWords = &lanes16{name: "evenOddWords", words: [2]uint64{0x0706030205040100, 0x0f0e0b0a0d0c0908}}
)

// lanes16 is such a table, written when it is used first.
type lanes16 struct {
	name  string
	words [2]uint64
	at    *Mem
}

// constants32 is a table in memory.
func constants32(t *lanes16) Mem {
	if t.at == nil {
		m := GLOBL(t.name, RODATA|NOPTR)
		for i := range 4 {
			DATA(8*i, U64(t.words[i%2]))
		}
		t.at = &m
	}
	return *t.at
}
