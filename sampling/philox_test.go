package sampling

import "testing"

// The known answers that Random123 publishes for philox4x32 with 10 rounds.
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = 0xffffffff
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := philox(c.counter, c.key); got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

func TestUniformDependsOnEveryField(t *testing.T) {
	base := Key{Seed: 1, Child: 2, Position: 3}
	for _, k := range []Key{
		{Seed: 2, Child: 2, Position: 3},
		{Seed: 1 + 1<<32, Child: 2, Position: 3},
		{Seed: 1, Child: 3, Position: 3},
		{Seed: 1, Child: 2, Position: 4},
		{Seed: 1, Child: 3, Position: 2},
	} {
		if k.Uniform() == base.Uniform() {
			t.Errorf("%+v and %+v have the same number", k, base)
		}
	}
	if a, b := base.Uniform(), base.Uniform(); a != b {
		t.Errorf("the same key gave %v and %v", a, b)
	}
}

// The first known answer in bits: 0xe169c58d then the upper 21 of 0x6627e8d5.
func TestUniformUses53Bits(t *testing.T) {
	const want = 0x1c2d38b1acc4fd
	if got := (Key{}).Uniform() * (1 << 53); got != want {
		t.Errorf("%x, want %x", uint64(got), uint64(want))
	}
}

func TestUniformIsEven(t *testing.T) {
	const n, bins = 100_000, 100
	var counts [bins]int
	for i := range n {
		u := Key{Seed: 7, Position: int32(i)}.Uniform()
		if u < 0 || u >= 1 {
			t.Fatalf("%v is outside [0, 1)", u)
		}
		counts[int(u*bins)]++
	}
	expected := make([]float64, bins)
	for i := range expected {
		expected[i] = n / bins
	}
	if x := chiSquare(counts[:], expected); x > 148.2 { // 99 degrees of freedom, p = 0.001
		t.Errorf("chi-square %.1f", x)
	}
}

func chiSquare(counts []int, expected []float64) float64 {
	x := 0.0
	for i, n := range counts {
		d := float64(n) - expected[i]
		x += d * d / expected[i]
	}
	return x
}
