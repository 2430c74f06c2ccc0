package charts

import (
	"cmp"
	"math"
	"slices"
)

// scale maps values to pixels, linearly or by their logarithm.
type scale struct {
	log      bool
	low, top float64 // values at the ends
	from, to float64 // pixels there
	ticks    []float64
}

// horizontal and vertical are where the ends of scales lie in every chart.
func horizontal(s scale) *scale { s.from, s.to = left, width-right; return &s }
func vertical(s scale) *scale   { s.from, s.to = height-below, above; return &s }

// at is the pixel of v, which is within the scale's ends.
func (s *scale) at(v float64) float64 {
	low, top := s.low, s.top
	if s.log {
		v, low, top = math.Log(v), math.Log(low), math.Log(top)
	}
	return s.from + (v-low)/(top-low)*(s.to-s.from)
}

// fromZero is a linear scale from 0 to a round number not below the largest of values.
func fromZero(values []float64) scale {
	top := largest(values)
	if top <= 0 {
		top = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(top)))
	for _, part := range []float64{0.2, 0.5, 1} {
		if top <= 5*part*step {
			step *= part
			break
		}
	}
	if top > 5*step {
		step *= 2
	}
	steps := int(math.Ceil(top / step))
	s := scale{top: float64(steps) * step}
	for i := range steps + 1 {
		s.ticks = append(s.ticks, float64(i)*step)
	}
	return s
}

// marks are what powers of ten are multiplied with to be ticks of a logarithmic scale. The
// last of them are dense enough for two ticks in any, as margins make its ends 2.25 apart.
var marks = [][]float64{{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 6, 8}}

// byLog is a logarithmic scale over all values above 0 with a margin, and a tick for
// each power of ten, or for more marks where fewer than two would be there.
func byLog(values []float64) scale {
	low, top := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if drawn(v) && v > 0 {
			low, top = min(low, v), max(top, v)
		}
	}
	if low > top {
		low, top = 1, 1
	}
	s := scale{log: true, low: low / 1.5, top: top * 1.5}
	for i := 0; i < len(marks) && len(s.ticks) < 2; i++ {
		s.ticks = s.marked(marks[i])
	}
	return s
}

// marked are the ticks by some marks within a logarithmic scale.
func (s *scale) marked(marks []float64) (ticks []float64) {
	for p := int(math.Floor(math.Log10(s.low))); p <= int(math.Floor(math.Log10(s.top))); p++ {
		for _, m := range marks {
			if v := m * math.Pow10(p); v >= s.low && v <= s.top {
				ticks = append(ticks, v)
			}
		}
	}
	return ticks
}

// byValues is a logarithmic scale with a tick for each of the values, which are above 0.
func byValues(values []float64) scale {
	s := byLog(values)
	s.ticks = slices.Clone(values)
	slices.SortFunc(s.ticks, cmp.Compare)
	s.ticks = slices.Compact(s.ticks)
	return s
}

func largest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		if drawn(v) {
			most = max(most, v)
		}
	}
	return most
}
