package kernels

import "encoding/binary"

// doubledE2M1 are twice the numbers of 4 bits of MXFP4 (package model), whose scales are
// halved. gen has the same values for the assembly.
var doubledE2M1 = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

// mxfp4Stored is the size of a stored block of 32 numbers: a scale and 16 bytes, whose low
// nibbles are the first 16.
const mxfp4Stored = 1 + Block/2

// PackMXFP4 makes a block of MXFP4, as it is stored, block b of column c of a panel. Its scale
// 2^(e-127) is halved, which is exact in bf16; as ggml has it, e = 255 is 2^128.
func PackMXFP4(panel, stored []byte, c, b int) {
	block, stored := panel[b*mxfp4Block:][:mxfp4Block], stored[:mxfp4Stored]
	for g := range 4 {
		from, shift := stored[1+g%2*8:], g/2*4
		eight := uint32(0)
		for j := range 8 {
			eight |= uint32(from[j]>>shift&15) << (4 * j)
		}
		binary.LittleEndian.PutUint32(block[4*(g*Panel+c):], eight)
	}
	e := uint32(stored[0])
	halved := (e - 1) << 23
	if e < 2 {
		halved = 0x00200000 << e
	}
	binary.LittleEndian.PutUint16(block[nibbles+2*c:], uint16(halved>>16))
}

// gemmMXFP4Go is GemmMXFP4: the same chain of fused operations as Gemm, over weights that
// are widened.
func gemmMXFP4Go(w []byte, x, out []float32, k, rows, xStride, outStride int) {
	for r := range rows {
		var sums [Panel]float32
		for b := range Blocks(k) {
			block, some := w[b*mxfp4Block:][:mxfp4Block], x[r*xStride+b*Block:][:Block]
			for i, v := range some {
				var line [Panel]float32
				for c := range line {
					q := binary.LittleEndian.Uint32(block[4*(i/8*Panel+c):]) >> (i % 8 * 4) & 15
					line[c] = widen(binary.LittleEndian.Uint16(block[nibbles+2*c:])) * doubledE2M1[q]
				}
				addProducts(sums[:], line[:], v)
			}
		}
		copy(out[r*outStride:], sums[:])
	}
}
