// Command gen writes the assembly of package kernels and its Go declarations.
package main

import . "github.com/mmcloughlin/avo/build"

//go:generate go run . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg kernels

func main() {
	ConstraintExpr("!noasm")
	for _, s := range []isa{avx2, avx512} {
		for _, rows := range gemmRows(s) {
			gemm(s, rows)
		}
		attention(s)
	}
	attentionInt8()
	quantiseQuery()
	storeInt8()
	storeBF16()
	addTile()
	siluTile()
	sumSquares()
	scaleMul()
	rope()
	transpose()
	pause()
	Generate()
}
