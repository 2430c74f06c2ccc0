package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
)

// dot adds the products of 4 bytes of w, unsigned, and 4 of x, signed, to each lane of
// acc: VPDPBUSD, which avo 0.5.0 does not know and Go's assembler does.
func dot(x, w, acc Op) { dotOp(nil, x, w, acc) }

// dotBroadcast is dot where x is 4 bytes of memory for all lanes.
func dotBroadcast(x, w, acc Op) { dotOp([]string{"BCST"}, x, w, acc) }

func dotOp(suffixes []string, x, w, acc Op) {
	Instruction(&ir.Instruction{
		Opcode: "VPDPBUSD", Suffixes: suffixes,
		Operands: []Op{x, w, acc},
		Inputs:   []Op{x, w, acc},
		Outputs:  []Op{acc},
		ISA:      []string{"AVX512VNNI"},
	})
}
