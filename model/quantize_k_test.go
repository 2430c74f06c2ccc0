package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// superBlock is a type of 256 numbers, how far off a number may be of the range of those
// that share a scale, and how many these are.
type superBlock struct {
	stored   DType
	quantize func(dst []byte, x *[256]float32)
	off      float64
	share    int
}

var superBlocks = []superBlock{
	{Q4_K, func(dst []byte, x *[256]float32) { QuantizeQ4K((*[144]byte)(dst), x) }, 0.04, 32},
	{Q5_K, func(dst []byte, x *[256]float32) { QuantizeQ5K((*[176]byte)(dst), x) }, 0.02, 32},
	{Q6_K, func(dst []byte, x *[256]float32) { QuantizeQ6K((*[210]byte)(dst), x) }, 0.016, 16},
}

// What is quantised is found again by Dequantize, as near as its bits allow: to half a step,
// and what scales and minima lose.
func TestQuantizeSuperBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	for _, k := range superBlocks {
		worst := 0.0
		for range 200 {
			var x, got [256]float32
			size, mean := math.Exp2(float64(r.IntN(16)-5)), float64(r.IntN(3)-1)
			for i := range x {
				x[i] = float32((r.NormFloat64() + mean) * size)
			}
			stored := make([]byte, k.stored.RowBytes(256))
			k.quantize(stored, &x)
			Dequantize(got[:], stored, k.stored)
			low, high := float32(0), float32(0)
			for _, v := range x {
				low, high = min(low, v), max(high, v)
			}
			for i, v := range x {
				worst = max(worst, math.Abs(float64(got[i]-v))/float64(high-low))
			}
		}
		t.Logf("%s: off by %.4f of a block's range", k.stored, worst)
		if !(worst < k.off) {
			t.Errorf("%s: off by %.4f of a block's range", k.stored, worst)
		}
	}
}

// Numbers that a block can have are found again exactly, in whatever place they stand.
func TestQuantizeSuperBlocksIsExact(t *testing.T) {
	for _, k := range superBlocks {
		var x, got [256]float32
		for i := range x {
			top := map[DType]int{Q4_K: 15, Q5_K: 31, Q6_K: 62}[k.stored]
			n := (i*7 + i/16) % (top + 1)
			switch i % k.share { // what makes the scale
			case 0:
				n = 0
			case 1:
				n = top
			}
			x[i] = float32(n - top/2)
		}
		stored := make([]byte, k.stored.RowBytes(256))
		k.quantize(stored, &x)
		Dequantize(got[:], stored, k.stored)
		for i, v := range x {
			if math.Abs(float64(got[i]-v)) > 2e-2 { // the scale is rounded to a half
				t.Fatalf("%s: number %d is %v, want %v", k.stored, i, got[i], v)
			}
		}
	}
}

// What is no number makes the whole block none, or says so in its scales; a block of zeros
// stays one.
func TestQuantizeSuperBlocksTakesAnything(t *testing.T) {
	for _, k := range superBlocks {
		for _, odd := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32} {
			x, got := [256]float32{1, 2, 3, 100: odd}, [256]float32{}
			stored := make([]byte, k.stored.RowBytes(256))
			k.quantize(stored, &x)
			Dequantize(got[:], stored, k.stored)
			if v := got[100]; v-v == 0 {
				t.Errorf("%s: %v becomes %v", k.stored, odd, v)
			}
		}
		var zeros, got [256]float32
		stored := make([]byte, k.stored.RowBytes(256))
		k.quantize(stored, &zeros)
		if Dequantize(got[:], stored, k.stored); got != zeros {
			t.Errorf("%s: zeros become %v", k.stored, got)
		}
	}
}
