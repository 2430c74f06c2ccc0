package model

// The types of super-blocks: 256 numbers whose scales are whole numbers themselves, times
// one f16 of them all.

// scalesAndMins are those of the 8 times 32 numbers of a super-block of Q4_K or Q5_K,
// which begins with d, m and 12 bytes of 6-bit numbers. The first four of each are the low
// 6 bits of bytes 0 to 7; of the others the low 4 bits are the nibbles of bytes 8 to 11,
// and the upper 2 those that bytes 0 to 7 have left.
func scalesAndMins(src []byte) (scales, mins [8]float32) {
	d, m, packed := half(src), half(src[2:]), (*[12]byte)(src[4:])
	for i := range 4 {
		scale, low := packed[i], packed[i+4]
		scales[i], mins[i] = d*float32(scale&63), m*float32(low&63)
		scales[i+4] = d * float32(packed[i+8]&15|scale>>6<<4)
		mins[i+4] = m * float32(packed[i+8]>>4|low>>6<<4)
	}
	return scales, mins
}

// q4kBlock widens 256 nibbles. Of each 32 bytes the low nibbles are 32 numbers under one
// scale and minimum, the high ones the next 32.
func q4kBlock(dst []float32, src []byte) {
	scales, mins := scalesAndMins(src)
	for pair := range 4 {
		var low, high [16]float32
		for q := range low {
			low[q] = float32(scales[2*pair]*float32(q)) - mins[2*pair]
			high[q] = float32(scales[2*pair+1]*float32(q)) - mins[2*pair+1]
		}
		to := (*[64]float32)(dst[64*pair:])
		for i, q := range (*[32]byte)(src[16+32*pair:]) {
			to[i] = low[q&15]
			to[i+32] = high[q>>4]
		}
	}
}

// q5kBlock is q4kBlock with a fifth bit: bit n of byte i of the 32 that precede the
// nibbles is that of number 32*n + i.
func q5kBlock(dst []float32, src []byte) {
	scales, mins := scalesAndMins(src)
	fifth := (*[32]byte)(src[16:])
	for pair := range 4 {
		to, from := (*[64]float32)(dst[64*pair:]), (*[32]byte)(src[48+32*pair:])
		s, m, s2, m2 := scales[2*pair], mins[2*pair], scales[2*pair+1], mins[2*pair+1]
		for i, q := range from {
			top := fifth[i] >> (2 * pair)
			to[i] = float32(s*float32(q&15|top&1<<4)) - m
			to[i+32] = float32(s2*float32(q>>4|top>>1&1<<4)) - m2
		}
	}
}

// q6kBlock widens 256 numbers of 6 bits, in two halves of 128: 64 bytes of low nibbles, of
// which the high ones are numbers 64 on, and 32 bytes of upper two bits, of which bits 2n
// and 2n+1 of byte i are those of number 32*n + i. Low bits of both halves come first, then
// upper ones, 16 signed scales of 16 numbers each, and d.
func q6kBlock(dst []float32, src []byte) {
	block := (*[210]byte)(src)
	d := half(block[208:])
	for h := range 2 {
		low, top := (*[64]byte)(block[64*h:]), (*[32]byte)(block[128+32*h:])
		for run := range 8 { // of 16 numbers
			scale := d * float32(int8(block[192+8*h+run]))
			nibble, bits := run/4*4, run/2*2
			from, upper := (*[16]byte)(low[16*run%64:]), (*[16]byte)(top[16*run%32:])
			to := (*[16]float32)(dst[128*h+16*run:])
			for i := range to {
				q := from[i]>>nibble&15 | upper[i]>>bits&3<<4
				to[i] = scale * float32(int8(q)-32)
			}
		}
	}
}
