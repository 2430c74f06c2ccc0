package engine

import "math/rand/v2"

// SeedOf is the seed of a request that has none of its own: drawn from that of the engine and
// the request's id, so that a run with ids of the caller's can be repeated from the
// engine's seed, also on another engine.
func SeedOf(seed uint64, id string) uint64 {
	h := seed
	for _, b := range []byte(id) { // FNV-1a
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.NewPCG(seed, h).Uint64()
}
