// Command gen writes the assembly of package kernels and its Go declarations.
package main

import . "github.com/mmcloughlin/avo/build"

//go:generate go run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg kernels

func main() {
	ConstraintExpr("!noasm")
	for _, s := range []isa{avx2, avx512} {
		for rows := range s.gemmRows() {
			gemm(s, rows+1)
			gemmBF16(s, rows+1)
		}
		for rows := range s.mxRows() {
			gemmMXFP4(s, rows+1)
		}
		attention(s)
		capTile(s)
		above(s)
		firstAbove(s)
		for _, g := range gates {
			g.tile(s)
		}
		scaleMul(s)
		read(s)
		mulAddF32(s)
		mulAddInt8(s)
	}
	attentionInt8()
	quantiseQuery()
	storeInt8()
	storeBF16()
	addTile()
	sumSquares()
	rope()
	weighLogits()
	transpose()
	integerProducts()
	pause()
	Generate()
}
