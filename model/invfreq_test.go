package model

import (
	"math"
	"testing"
)

func near(got, want, rel float64) bool { return math.Abs(got-want) <= rel*math.Abs(want) }

// llama31 is the rotary embedding of Llama 3.2 1B.
func llama31() *Config {
	return &Config{HeadDim: 64, Rope: Rope{Kind: RopeLlama3, Theta: 500000, Factor: 32, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPosition: 8192}}
}

func TestInvFreqDefault(t *testing.T) {
	c := &Config{HeadDim: 16, Rope: Rope{Kind: RopeDefault, Theta: 10000}}
	inv, scale := c.InvFreq(Full)
	if len(inv) != 8 || scale != 1 {
		t.Fatalf("got %d frequencies, factor %g", len(inv), scale)
	}
	for i, f := range inv {
		if want := math.Pow(10000, -float64(i)/8); !near(f, want, 1e-6) {
			t.Errorf("pair %d: got %g, want %g", i, f, want)
		}
	}
	c.Rope.Kind, c.Rope.Factor = RopeLinear, 4
	linear, scale := c.InvFreq(Full)
	for i, f := range linear {
		if f != inv[i]/4 || scale != 1 {
			t.Errorf("linear pair %d: got %g, want %g", i, f, inv[i]/4)
		}
	}
}

// The values are those of the reference implementation (Llama 3.1's factors).
func TestInvFreqLlama3(t *testing.T) {
	c := llama31()
	inv, scale := c.InvFreq(Full)
	c.Rope.Kind = RopeDefault
	plain, _ := c.InvFreq(Full)
	if scale != 1 {
		t.Errorf("factor %g", scale)
	}
	want := map[int]float64{14: 3.21144599e-3, 15: 1.29054793e-3, 16: 4.29556797e-4, 17: 9.7082878e-5, 18: 1.94616382e-5, 31: 9.41830673e-8}
	for i := range inv {
		w, ok := want[i]
		switch {
		case ok:
		case i < 15:
			w = plain[i]
		default:
			w = plain[i] / 32
		}
		if !near(inv[i], w, 3e-7) {
			t.Errorf("pair %d: got %.9g, want %.9g", i, inv[i], w)
		}
	}
}

// GGUF files say the same with divisors of the plain frequencies.
func TestInvFreqDivisors(t *testing.T) {
	c := llama31()
	want, _ := c.InvFreq(Full)
	c.Rope = Rope{Kind: RopeDefault, Theta: 500000}
	plain, _ := c.InvFreq(Full)
	for i := range plain {
		c.Rope.FreqDivisors = append(c.Rope.FreqDivisors, float32(plain[i]/want[i]))
	}
	got, _ := c.InvFreq(Full)
	for i := range got {
		if !near(got[i], want[i], 3e-7) {
			t.Errorf("pair %d: got %g, want %g", i, got[i], want[i])
		}
	}
}

// The values were computed from the reference's formula in numpy's float32.
func TestInvFreqYarn(t *testing.T) {
	for name, test := range map[string]struct {
		headDim int
		rope    Rope
		every   int
		want    []float64
	}{
		"rounded borders": {16, Rope{Kind: RopeYarn, Theta: 10000, Factor: 4, OriginalMaxPosition: 64, BetaFast: 32, BetaSlow: 1, Truncate: true}, 1,
			[]float64{1.0, 0.237170815, 0.049999997, 0.00790569466, 0.00249999994, 0.000790569466, 0.000250000012, 7.90569466e-05}},
		"exact borders": {64, Rope{Kind: RopeYarn, Theta: 1e6, Factor: 4, OriginalMaxPosition: 32768, BetaFast: 32, BetaSlow: 1}, 3,
			[]float64{1.0, 0.273841977, 0.0749894157, 0.0205352493, 0.00551727042, 0.00107923779, 0.000177344264, 2.88695519e-05, 7.90569356e-06, 2.16491071e-06, 5.92843435e-07}},
	} {
		c := &Config{HeadDim: test.headDim, Rope: test.rope}
		inv, scale := c.InvFreq(Full)
		for i, want := range test.want {
			if got := inv[i*test.every]; !near(got, want, 3e-7) {
				t.Errorf("%s: pair %d: got %.9g, want %.9g", name, i*test.every, got, want)
			}
		}
		if want := 1.13862943611; !near(scale, want, 1e-9) {
			t.Errorf("%s: factor %g, want %g", name, scale, want)
		}
	}
}

func TestYarnScale(t *testing.T) {
	for _, test := range []struct {
		rope Rope
		want float64
	}{
		{Rope{Factor: 0.5}, 1},
		{Rope{Factor: 4, AttentionFactor: 1.5}, 1.5},
		{Rope{Factor: 40, MScale: 1, MScaleAll: 1}, 1},
		{Rope{Factor: 40, MScale: 0.707, MScaleAll: 1}, (0.1*0.707*math.Log(40) + 1) / (0.1*math.Log(40) + 1)},
	} {
		if got := test.rope.yarnScale(); !near(got, test.want, 1e-12) {
			t.Errorf("%+v: got %g, want %g", test.rope, got, test.want)
		}
	}
}
