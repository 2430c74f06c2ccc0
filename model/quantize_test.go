package model

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// The golden files are what the Python package gguf makes (testdata/make_quantize.py).
func TestQuantizeGolden(t *testing.T) {
	numbers := read(t, "testdata/quantize.f32")
	q8, q4 := read(t, "testdata/quantize.q8_0"), read(t, "testdata/quantize.q4_1")
	for b := 0; len(numbers) > 0; b++ {
		var x [32]float32
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(numbers[4*i:]))
		}
		numbers = numbers[4*32:]
		var got8 [34]byte
		if QuantizeQ8(&got8, &x); !bytes.Equal(got8[:], q8[34*b:][:34]) {
			t.Errorf("block %d as Q8_0: %x, want %x", b, got8, q8[34*b:][:34])
		}
		var got4 [20]byte
		if QuantizeQ4(&got4, &x); !bytes.Equal(got4[:], q4[20*b:][:20]) {
			t.Errorf("block %d as Q4_1: %x, want %x", b, got4, q4[20*b:][:20])
		}
	}
}

// What is no number, or too large, makes some block: nothing panics.
func TestQuantizeTakesAnything(t *testing.T) {
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, 1e-45} {
		x := [32]float32{3: v, 9: -v, 20: 1}
		QuantizeQ8(new([34]byte), &x)
		QuantizeQ4(new([20]byte), &x)
	}
}
