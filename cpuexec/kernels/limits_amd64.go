//go:build !noasm

package kernels

// longest is how many numbers a kernel of MulAddF32 or MulAddInt8 has sums in at most.
const longest = 24 * 16

// readBy serves Read by a kernel that reads so many bytes at a time, and the rest as
// plain Go does.
func readBy(run func(p *byte, n int64, out *uint64), step int) func(b []byte) uint64 {
	return func(b []byte) uint64 {
		whole := len(b) / step * step
		sum := readGo(b[whole:])
		if whole > 0 {
			var words [8]uint64
			run(&b[0], int64(whole/step), &words[0])
			for _, w := range words {
				sum ^= w
			}
		}
		return sum
	}
}

func mulAddF32By(run func(n int64, out *float32)) func(rounds int) float64 {
	return func(rounds int) float64 {
		var sums [longest]float32
		if rounds > 0 { // the kernels count down to 0
			run(int64(rounds), &sums[0])
		}
		return counted(sums[:])
	}
}

func mulAddInt8By(run func(n int64, out *int32)) func(rounds int) float64 {
	return func(rounds int) float64 {
		var sums [longest]int32
		if rounds > 0 {
			run(int64(rounds), &sums[0])
		}
		return counted(sums[:])
	}
}
