package kernels

import (
	"math/rand/v2"
	"testing"
)

// Read has seen every byte: one bit of any of them changes the answer, which is that of
// plain Go.
func TestReadSeesAll(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, s := range All() {
		for _, n := range []int{0, 64, 448, 512, 576, 4096 + 64} {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			want := readGo(b)
			if got := s.Read(b); got != want {
				t.Fatalf("%s: %d bytes: %x, plain Go has %x", s.Name, n, got, want)
			}
			for at := 0; at < n; at += 61 {
				b[at] ^= 4
				if got := s.Read(b); got != want^4<<(8*(at%8)) {
					t.Fatalf("%s: %d bytes: byte %d changed, and the answer is %x before, %x now", s.Name, n, at, want, got)
				}
				b[at] ^= 4
			}
		}
	}
}

// What multiplies and adds does so as often as it says, which is the sum of all that it
// added: a number of its own in each round.
func TestMulAddsAreCounted(t *testing.T) {
	for _, s := range All() {
		for name, f := range map[string]func(int) float64{"f32": s.MulAddF32, "int8": s.MulAddInt8} {
			one := f(1)
			if one < Panel || one != float64(int(one)) {
				t.Errorf("%s %s: a round is %v", s.Name, name, one)
			}
			for _, rounds := range []int{0, 2, 33, 1000, 1_000_000} {
				if s == generic && rounds > 1000 {
					continue // slow
				}
				if got := f(rounds); got != one*float64(rounds) {
					t.Errorf("%s %s: %v in %d rounds, one has %v", s.Name, name, got, rounds, one)
				}
			}
		}
	}
}

// BenchmarkLimits reports what one thread reaches.
func BenchmarkLimits(b *testing.B) {
	const rounds, size = 4096, 64 << 20
	memory := make([]byte, size)
	for i := range memory {
		memory[i] = byte(i)
	}
	for _, s := range All() {
		for name, f := range map[string]func(int) float64{"f32": s.MulAddF32, "int8": s.MulAddInt8} {
			b.Run(s.Name+"/"+name, func(b *testing.B) {
				n := 0.0
				for b.Loop() {
					n += f(rounds)
				}
				b.ReportMetric(2*n/b.Elapsed().Seconds()/1e9, "GOP/s")
			})
		}
		b.Run(s.Name+"/read", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				s.Read(memory)
			}
		})
	}
}
