package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels here are what the others are measured by: they do nothing but read, or
// multiply and add, in as many chains as hide how long each takes.

// read combines memory by exclusive or.
func read(s isa) {
	const vecs = 8
	name := "read" + s.name
	fn(name, "func(p *byte, n int64, out *uint64)",
		fmt.Sprintf("%s writes the exclusive or of n*%d bytes, %d of them at a time, to out.", name, vecs*s.bytes(), s.bytes()))
	p, n := Load(Param("p"), GP64()), Load(Param("n"), GP64())
	for i := range vecs {
		s.zero(i)
	}
	Label(name + "_l")
	for i := range vecs {
		if i*s.bytes()%64 == 0 {
			PREFETCHT0(mem(p, 4096+i*s.bytes()))
		}
		s.xor(mem(p, i*s.bytes()), s.v(i))
	}
	addq(vecs*s.bytes(), p)
	DECQ(n)
	JNZ(LabelRef(name + "_l"))
	for i := 1; i < vecs; i++ {
		s.xor(s.v(i), s.v(0))
	}
	VMOVUPS(s.v(0), mem(Load(Param("out"), GP64()), 0))
	end()
}

func (s isa) xor(x, into Op) {
	if s.lanes == 16 {
		VPXORQ(x, into, into)
		return
	}
	VPXOR(x, into, into)
}

// mulAddF32 adds 1*1 to each lane of many registers.
func mulAddF32(s isa) {
	chains := s.chains()
	name := "mulAddF32" + s.name
	fn(name, "func(n int64, out *float32)",
		fmt.Sprintf("%s adds 1*1 n times to each of %d numbers, which are written to out.", name, chains*s.lanes))
	one := s.v(chains)
	splat(math.Float32bits(1), one)
	s.rounds(name, chains, func(i int) { VFMADD231PS(one, one, s.v(i)) })
}

// mulAddInt8 adds four 1*1 to each lane of many registers: one instruction with VNNI,
// three without.
func mulAddInt8(s isa) {
	chains := s.chains()
	name := "mulAddInt8" + s.name
	fn(name, "func(n int64, out *int32)",
		fmt.Sprintf("%s adds four 1*1 n times to each of %d numbers, which are written to out.", name, chains*s.lanes))
	bytes, pairs := s.v(chains), s.v(chains+1)
	splat(0x01010101, bytes)
	if s.lanes == 16 {
		s.rounds(name, chains, func(i int) { dot(bytes, bytes, s.v(i)) })
		return
	}
	splat(0x00010001, pairs)
	s.rounds(name, chains, func(i int) {
		product := s.v(chains + 2 + i%2)
		VPMADDUBSW(bytes, bytes, product)
		VPMADDWD(pairs, product, product)
		VPADDD(product, s.v(i), s.v(i))
	})
}

// splat puts 4 bytes into every lane of a register.
func splat(bytes uint32, v reg.VecPhysical) {
	word := GP32()
	MOVL(U32(bytes), word)
	VMOVD(word, v.AsX())
	VPBROADCASTD(v.AsX(), v)
}

// chains is how many registers are summed in, so that there are some left.
func (s isa) chains() int { return len(s.regs) * 3 / 4 }

// rounds clears the first registers, does a step on each of them n times, and writes
// them to out.
func (s isa) rounds(name string, chains int, step func(i int)) {
	n := Load(Param("n"), GP64())
	for i := range chains {
		s.zero(i)
	}
	Label(name + "_l")
	for i := range chains {
		step(i)
	}
	DECQ(n)
	JNZ(LabelRef(name + "_l"))
	out := Load(Param("out"), GP64())
	for i := range chains {
		VMOVUPS(s.v(i), mem(out, i*s.bytes()))
	}
	end()
}
