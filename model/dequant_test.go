package model

import (
	"encoding/binary"
	"math"
	"os"
	"testing"
)

// The golden files are what the Python package gguf computes (testdata/make_dequant.py).
func TestDequantizeGolden(t *testing.T) {
	for _, test := range []struct {
		file string
		kind DType
	}{
		{"q8_0", Q8_0}, {"q4_1", Q4_1}, {"f16", F16}, {"bf16", BF16}, {"q4_0", Q4_0},
		{"q4_k", Q4_K}, {"q5_k", Q5_K}, {"q6_k", Q6_K}, {"mxfp4", MXFP4}, {"fp8", FP8},
	} {
		stored := read(t, "testdata/"+test.file+".bin")
		golden := read(t, "testdata/"+test.file+".f32")
		got := make([]float32, len(golden)/4)
		if n := test.kind.RowBytes(len(got)); n != len(stored) {
			t.Fatalf("%s: %d numbers are %d bytes, the file has %d", test.kind, len(got), n, len(stored))
		}
		Dequantize(got, stored, test.kind)
		for i, x := range got {
			want := math.Float32frombits(binary.LittleEndian.Uint32(golden[4*i:]))
			if math.Float32bits(x) != math.Float32bits(want) && (x == x || want == want) { // one NaN is as good as another
				t.Fatalf("%s: number %d: got %g, want %g", test.kind, i, x, want)
			}
		}
	}
}

// Every half, against its definition: sign, 2^(exponent-15), 10 bits of mantissa.
func TestF16(t *testing.T) {
	for h := range 1 << 16 {
		exponent, mantissa := h>>10&31, h&1023
		var want float64
		switch {
		case exponent == 31 && mantissa != 0:
			if got := FromF16(uint16(h)); got == got {
				t.Fatalf("%#04x: got %g, want NaN", h, got)
			}
			continue
		case exponent == 31:
			want = math.Inf(1)
		case exponent == 0:
			want = math.Ldexp(float64(mantissa), -24)
		default:
			want = math.Ldexp(float64(1024+mantissa), exponent-25)
		}
		if h>>15 == 1 {
			want = -want
		}
		got := float64(FromF16(uint16(h)))
		if got != want || math.Signbit(got) != math.Signbit(want) {
			t.Fatalf("%#04x: got %g, want %g", h, got, want)
		}
	}
}

func TestDequantizeF32(t *testing.T) {
	want := []float32{0, -1.5, 3e-39, math.MaxFloat32}
	var stored []byte
	for _, x := range want {
		stored = binary.LittleEndian.AppendUint32(stored, math.Float32bits(x))
	}
	got := make([]float32, len(want))
	Dequantize(got, stored, F32)
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got %g, want %g", got[i], want[i])
		}
	}
}

func TestDequantizeAllocatesNothing(t *testing.T) {
	dst, src := make([]float32, 4096), make([]byte, 4*4096)
	for _, kind := range []DType{F32, F16, BF16, Q8_0, Q4_1, Q4_0, Q4_K, Q5_K, Q6_K, MXFP4, FP8} {
		if n := testing.AllocsPerRun(10, func() { Dequantize(dst, src, kind) }); n != 0 {
			t.Errorf("%s: %g allocations", kind, n)
		}
	}
}

func BenchmarkDequantize(b *testing.B) {
	dst, src := make([]float32, 1<<16), make([]byte, 4<<16)
	for i := range src {
		src[i] = byte(i * 37)
	}
	for _, kind := range []DType{F32, F16, BF16, Q8_0, Q4_1, Q4_0, Q4_K, Q5_K, Q6_K, MXFP4, FP8} {
		b.Run(kind.String(), func(b *testing.B) {
			b.SetBytes(int64(4 * len(dst)))
			for b.Loop() {
				Dequantize(dst, src, kind)
			}
		})
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
