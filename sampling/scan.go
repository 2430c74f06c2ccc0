package sampling

import "math"

// above is Passes.Above. Most are at most bound, so eight are looked at before the next
// jump.
func above(x []float32, bound float32) int {
	i := 0
	for ; i+8 <= len(x); i += 8 {
		v := (*[8]float32)(x[i:])
		if !(v[0] <= bound && v[1] <= bound && v[2] <= bound && v[3] <= bound &&
			v[4] <= bound && v[5] <= bound && v[6] <= bound && v[7] <= bound) {
			break
		}
	}
	for i < len(x) && x[i] <= bound {
		i++
	}
	return i
}

// below is the next smaller number, so that what is above it is v at least.
func below(v float32) float32 { return math.Nextafter32(v, banned) }
