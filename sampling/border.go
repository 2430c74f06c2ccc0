package sampling

import "math"

// kth is the k-th largest logit, or the smallest finite number if k is 0 or no more
// than k are finite.
//
// What exceeds the k-th of those seen so far is gathered, and cut to k again
// whenever there is enough of it: one pass with hardly anything to do.
func (s *Sampler) kth(logits []float32, k int) float32 {
	lowest := float32(-math.MaxFloat32)
	if k == 0 || k >= len(logits) {
		return lowest
	}
	room := min(max(4*k, 256), len(logits))
	held := s.kept.ranks[:0]
	for i := 0; i < len(logits); {
		i += s.passes.Above(logits[i:], lowest)
		for ; i < len(logits) && logits[i] > lowest; i++ {
			if held = append(held, rank(logits[i])); len(held) == room {
				held, lowest = s.largest(held, k)
			}
		}
	}
	if len(held) > k {
		_, lowest = s.largest(held, k)
	}
	return lowest
}

// largest leaves the k largest of more ranks in place and is the k-th one's logit.
func (s *Sampler) largest(ranks []uint32, k int) ([]uint32, float32) {
	lowest, above := s.border(ranks, nil, float64(k))
	equal := k - int(above)
	left := ranks[:0]
	for _, r := range ranks {
		if r > lowest || r == lowest && equal > 0 {
			if r == lowest {
				equal--
			}
			left = append(left, r)
		}
	}
	return left, unrank(lowest)
}

const buckets = 1 << 8

// border finds the rank at which the sum of the weights, from the largest rank
// down, reaches need, and the sum of all above it. Nil weights are 1 each. It is
// a radix selection: four passes over 8 bits of the ranks each, no sort.
func (s *Sampler) border(ranks []uint32, weights []float64, need float64) (lowest uint32, above float64) {
	known := uint32(0) // bits of lowest that are found
	for _, shift := range [...]uint32{24, 16, 8, 0} {
		clear(s.sums[:])
		for i, r := range ranks {
			if (r^lowest)&known != 0 {
				continue
			}
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			s.sums[r>>(shift&31)%buckets] += w
		}
		b := s.bucket(need - above)
		for _, sum := range s.sums[b+1:] {
			above += sum
		}
		lowest |= uint32(b) << shift
		known = ^uint32(0) << shift
	}
	return lowest, above
}

// bucket is the highest one from which on the sums reach need. Sums of the same
// weights in another order differ in the last bit: if need is missed by that, it
// is the lowest bucket that has any.
func (s *Sampler) bucket(need float64) int {
	sum, lowest := 0.0, 0
	for b := buckets - 1; b >= 0; b-- {
		if s.sums[b] == 0 {
			continue
		}
		lowest = b
		if sum += s.sums[b]; sum >= need {
			break
		}
	}
	return lowest
}

// rank orders logits as integers. Adding 0 makes -0 equal to 0.
func rank(v float32) uint32 {
	b := math.Float32bits(v + 0)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

// unrank is the logit of a rank.
func unrank(r uint32) float32 {
	if r>>31 == 0 {
		return math.Float32frombits(^r)
	}
	return math.Float32frombits(r &^ (1 << 31))
}
