package kernels

import "encoding/binary"

// readGo is Read.
func readGo(b []byte) uint64 {
	var w0, w1, w2, w3 uint64
	for len(b) >= 32 {
		w0 ^= binary.LittleEndian.Uint64(b)
		w1 ^= binary.LittleEndian.Uint64(b[8:])
		w2 ^= binary.LittleEndian.Uint64(b[16:])
		w3 ^= binary.LittleEndian.Uint64(b[24:])
		b = b[32:]
	}
	return w0 ^ w1 ^ w2 ^ w3
}

// mulAddF32Go is MulAddF32 by the operation of gemmGo.
func mulAddF32Go(rounds int) float64 {
	var sums, ones [Panel]float32
	for c := range ones {
		ones[c] = 1
	}
	for range rounds {
		for c := range sums {
			sums[c] = fma(ones[c], ones[0], sums[c])
		}
	}
	return counted(sums[:])
}

// mulAddInt8Go is MulAddInt8 by the operations of a product of Q8.
func mulAddInt8Go(rounds int) float64 {
	var sums [Panel]int32
	var weights, values [Block]byte
	for j := range weights {
		weights[j], values[j] = 0x81, 1
	}
	for i := range rounds {
		sum := int32(0)
		for j := range Block {
			sum += int32(int8(weights[j]^0x80)) * int32(int8(values[j]))
		}
		sums[i%Panel] += sum
	}
	return counted(sums[:])
}

// counted is how often 1*1 was added to zeros.
func counted[T float32 | int32](sums []T) (n float64) {
	for _, x := range sums {
		n += float64(x)
	}
	return n
}
