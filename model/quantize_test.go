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
	q8, q4, q40, mx := read(t, "testdata/quantize.q8_0"), read(t, "testdata/quantize.q4_1"), read(t, "testdata/quantize.q4_0"), read(t, "testdata/quantize.mxfp4")
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
		var got40 [18]byte
		if QuantizeQ40(&got40, &x); !bytes.Equal(got40[:], q40[18*b:][:18]) {
			t.Errorf("block %d as Q4_0: %x, want %x", b, got40, q40[18*b:][:18])
		}
		var gotMX [17]byte
		if QuantizeMXFP4(&gotMX, &x); !bytes.Equal(gotMX[:], mx[17*b:][:17]) {
			t.Errorf("block %d as MXFP4: %x, want %x", b, gotMX, mx[17*b:][:17])
		}
	}
}

// What is no number, or too large, makes a block that says so in a scale or a minimum; what
// is too small for these is 0. Nothing is up to the CPU.
func TestQuantizeTakesAnything(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		v                   float32
		scale8, scale4, low uint16
	}{
		{nan, 0x7e00, 0x7e00, 0x7e00}, {inf, 0x7c00, 0x7c00, 0xfc00}, {-inf, 0x7c00, 0x7c00, 0xfc00},
		{math.MaxFloat32, 0x7c00, 0x7c00, 0xfc00}, {-math.MaxFloat32, 0x7c00, 0x7c00, 0xfc00},
		{1e-38, 0, 0, 0x8000}, {1e-45, 0, 0, 0x8000},
	} {
		x := [32]float32{3: c.v, 9: -c.v}
		var q8 [34]byte
		QuantizeQ8(&q8, &x)
		var q4 [20]byte
		QuantizeQ4(&q4, &x)
		half := binary.LittleEndian.Uint16
		if half(q8[:])&0x7fff != c.scale8 || half(q4[:])&0x7fff != c.scale4 || half(q4[2:]) != c.low && c.v == c.v {
			t.Errorf("%g: Q8_0 has scale %#04x, Q4_1 %#04x and minimum %#04x", c.v, half(q8[:]), half(q4[:]), half(q4[2:]))
		}
		if c.v-c.v != 0 && (!bytes.Equal(q8[2:], make([]byte, 32)) || !bytes.Equal(q4[4:], make([]byte, 16))) {
			t.Errorf("%g: Q8_0 is %x, Q4_1 %x", c.v, q8, q4)
		}
	}
}

func TestToF16OfNaN(t *testing.T) {
	for bits, want := range map[uint32]uint16{0x7f800001: 0x7e00, 0xffffffff: 0xfe00, 0x7f800000: 0x7c00} {
		if got := ToF16(math.Float32frombits(bits)); got != want {
			t.Errorf("%#x: %#x, want %#x", bits, got, want)
		}
	}
}

// What is not finite makes a number that is not, under MXFP4's largest scale, and the smallest
// scales have numbers too.
func TestQuantizeMXFP4TakesAnything(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct{ v, want float32 }{{nan, inf}, {inf, inf}, {-inf, -inf}, {1e-38, 1e-38}, {-1e-45, 0}, {math.MaxFloat32, math.MaxFloat32}} {
		x := [32]float32{3: c.v, 19: c.v}
		var block [17]byte
		QuantizeMXFP4(&block, &x)
		var got [32]float32
		Dequantize(got[:], block[:], MXFP4)
		for _, v := range []float32{got[3], got[19]} {
			if v != c.want && !(math.Abs(float64(v-c.want)) <= 0.25*math.Abs(float64(c.want))) {
				t.Errorf("%g becomes %g, want about %g", c.v, v, c.want)
			}
		}
		if got[0] != 0 || got[31] != 0 {
			t.Errorf("beside %g a zero becomes %g and %g", c.v, got[0], got[31])
		}
	}
}
