package sampling

import "math/bits"

// Key names one draw: nothing else decides its random number.
type Key struct {
	Seed     uint64 // the request's
	Child    int32  // number of the sequence within its request
	Position int32  // index in the sequence, prompt included, of the token drawn
}

// Uniform is the key's random number in [0, 1), of 53 bits.
func (k Key) Uniform() float64 {
	x := philox([4]uint32{uint32(k.Position), uint32(k.Child)}, [2]uint32{uint32(k.Seed), uint32(k.Seed >> 32)})
	return float64(uint64(x[1])<<21^uint64(x[0])>>11) / (1 << 53)
}

// Multipliers and Weyl constants of Philox4x32.
const (
	philoxM0, philoxM1 = 0xD2511F53, 0xCD9E8D57
	philoxW0, philoxW1 = 0x9E3779B9, 0xBB67AE85
)

// philox is Philox4x32-10, a counter-based generator: Salmon, Moraes, Dror and
// Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011 (Random123).
func philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		hi0, lo0 := bits.Mul32(philoxM0, counter[0])
		hi1, lo1 := bits.Mul32(philoxM1, counter[2])
		counter = [4]uint32{hi1 ^ counter[1] ^ key[0], lo1, hi0 ^ counter[3] ^ key[1], lo0}
		key[0] += philoxW0
		key[1] += philoxW1
	}
	return counter
}
