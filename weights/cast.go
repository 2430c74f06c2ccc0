package weights

import (
	"encoding/binary"
	"math"

	"github.com/cbactor/cbactor/model"
)

// castBlock is how many numbers are widened at a time; they stay in the nearest cache.
const castBlock = 1024

// cast converts finite numbers from one of F32, F16 and BF16 to another. Narrowing
// rounds to nearest, ties to even, and what is too large becomes infinite. dst has
// room for all. It does not allocate.
func cast(dst []byte, to model.DType, src []byte, from model.DType) {
	switch {
	case from == model.BF16 && to == model.F32:
		src, dst = widenPairs(dst, src)
	case from == model.F32 && to == model.BF16:
		src, dst = narrowPairs(dst, src)
	}
	var wide [castBlock]float32
	size := from.RowBytes(1)
	for len(src) > 0 {
		n := min(castBlock, len(src)/size)
		model.Dequantize(wide[:n], src[:n*size], from)
		narrow(dst, wide[:n], to)
		src, dst = src[n*size:], dst[to.RowBytes(n):]
	}
}

// widenPairs makes float32 of bf16, which are their upper halves, four at a time. It
// returns what is left.
func widenPairs(dst, src []byte) (srcLeft, dstLeft []byte) {
	for len(src) >= 8 && len(dst) >= 16 {
		v, to := binary.LittleEndian.Uint64(src), (*[16]byte)(dst)
		binary.LittleEndian.PutUint64(to[:8], v<<32&^0xffffffff_ffff|v<<16&0xffff_0000)
		binary.LittleEndian.PutUint64(to[8:], v&^0xffffffff_ffff|v>>16&0xffff_0000)
		src, dst = src[8:], dst[16:]
	}
	return src, dst
}

// narrowPairs rounds float32 to bf16, four at a time. It returns what is left. A finite
// number that is rounded up reaches infinity at most, so that pairs do not mix.
func narrowPairs(dst, src []byte) (srcLeft, dstLeft []byte) {
	for len(src) >= 16 && len(dst) >= 8 {
		a := roundPair(binary.LittleEndian.Uint64(src))
		b := roundPair(binary.LittleEndian.Uint64(src[8:]))
		binary.LittleEndian.PutUint64(dst, a>>16&0xffff|a>>32&0xffff_0000|b<<16&0xffff_00000000|b&^0xffffffff_ffff)
		src, dst = src[16:], dst[8:]
	}
	return src, dst
}

// roundPair rounds two float32 at their 16th bit, ties to even.
func roundPair(v uint64) uint64 {
	return v + 0x00007fff_00007fff + v>>16&0x00000001_00000001
}

func narrow(dst []byte, src []float32, to model.DType) {
	dst = dst[:to.RowBytes(len(src))]
	switch to {
	case model.F32:
		for i, x := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(x))
		}
	case model.BF16:
		for i, x := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], model.ToBF16(x))
		}
	case model.F16:
		for i, x := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], model.ToF16(x))
		}
	}
}
