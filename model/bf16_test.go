package model

import (
	"math"
	"testing"
)

func TestToBF16(t *testing.T) {
	for _, test := range []struct {
		bits uint32
		want uint16
	}{
		{0x3f800000, 0x3f80}, // 1
		{0x3f807fff, 0x3f80}, // below half
		{0x3f808000, 0x3f80}, // half, to even
		{0x3f818000, 0x3f82}, // half, to even
		{0x3f808001, 0x3f81}, // above half
		{0xbf808001, 0xbf81},
		{0x7f7fffff, 0x7f80}, // rounds to infinity
		{0x7f800000, 0x7f80},
		{0x00000001, 0x0000},
		{0x80000000, 0x8000},
	} {
		if got := ToBF16(math.Float32frombits(test.bits)); got != test.want {
			t.Errorf("%#08x: got %#04x, want %#04x", test.bits, got, test.want)
		}
	}
	for _, nan := range []uint32{0x7f800001, 0x7fffffff, 0xff800001} {
		if got := ToBF16(math.Float32frombits(nan)); got&0x7f80 != 0x7f80 || got&0x7f == 0 {
			t.Errorf("NaN %#08x: got %#04x", nan, got)
		}
	}
}
