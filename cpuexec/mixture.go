package cpuexec

import (
	"math"

	"github.com/cbactor/cbactor/model"
)

// rowGroup is what the rows of an expert begin at a multiple of: some formats pack so many
// side by side.
const rowGroup = 8

// mixture is the rows of a step that experts compute, sorted by expert: each has those of
// its tokens side by side, and experts without tokens have none. A thread writes what it
// computes of tokens, panels or, the first one, of all.
type mixture struct {
	scores []float32 // [token][padded experts]
	chosen []int32   // [token][perToken]: experts, the one with the highest score first
	weight []float32 // likewise
	row    []int32   // likewise: where in the rows below
	starts []int32   // [expert]: the first of its rows
	counts []int32   // likewise: how many
	rows   int       // with what lies between those of one expert and the next

	in, act input     // [row][hiddenWidth], [row][expertWidth]
	out     []float32 // [row][hiddenWidth]
}

// mixtureRows is how many rows so many tokens have at most.
func (d *dims) mixtureRows(tokens int) int {
	n := tokens * d.perToken
	return n + (rowGroup-1)*min(d.experts, n)
}

// mixtureWork is the size of a step's mixture.
func (c *Config) mixtureWork(d *dims) int64 {
	if d.experts == 0 {
		return 0
	}
	t, p, rows := c.MaxTokens, c.packs(), d.mixtureRows(c.MaxTokens)
	return lines(t*padded(d.experts)) + 3*lines(t*d.perToken) + 2*lines(d.experts) +
		inputBytes(p, rows, d.hiddenWidth) + inputBytes(p, rows, d.expertWidth) + lines(rows*d.hiddenWidth)
}

// cutMixture cuts that out of a.
func (s *step) cutMixture(a *area) (m mixture) {
	if s.experts == 0 {
		return m
	}
	t, rows := s.config.MaxTokens, s.mixtureRows(s.config.MaxTokens)
	m.scores = cut[float32](a, t*padded(s.experts))
	m.chosen, m.weight, m.row = cut[int32](a, t*s.perToken), cut[float32](a, t*s.perToken), cut[int32](a, t*s.perToken)
	m.starts, m.counts = cut[int32](a, s.experts), cut[int32](a, s.experts)
	m.in, m.act = cutInput(a, s.packs, rows, s.hiddenWidth), cutInput(a, s.packs, rows, s.expertWidth)
	m.act.late = s.packs == packGroups
	m.out = cut[float32](a, rows*s.hiddenWidth)
	return m
}

// choose makes of a token's scores the experts that it takes, and what each weighs. Of
// equal scores the lower number goes first.
func choose(m *model.MoE, scores []float32, chosen []int32, weight []float32) {
	sum := 0.0
	best := math.Inf(-1)
	for _, x := range scores {
		best = max(best, float64(x))
	}
	if !m.ChosenOnly && !m.Normalize {
		for _, x := range scores {
			sum += math.Exp(float64(x) - best)
		}
	}
	for i := range chosen {
		at, most := -1, float32(0)
		for e, x := range scores {
			if (at < 0 || x > most) && !taken(chosen[:i], e) {
				at, most = e, x
			}
		}
		chosen[i] = int32(at)
		w := math.Exp(float64(most) - best)
		weight[i] = float32(w)
		if m.ChosenOnly || m.Normalize {
			sum += w
		}
	}
	for i := range weight {
		weight[i] = float32(float64(weight[i]) / sum)
	}
}

func taken(chosen []int32, expert int) bool {
	for _, e := range chosen {
		if int(e) == expert {
			return true
		}
	}
	return false
}

// sort gives the tokens' choices their rows.
func (m *mixture) sort(choices int) {
	clear(m.counts)
	for _, e := range m.chosen[:choices] {
		m.counts[e]++
	}
	m.rows = 0
	for e, n := range m.counts {
		m.starts[e] = int32(m.rows)
		m.rows += (int(n) + rowGroup - 1) / rowGroup * rowGroup
	}
	clear(m.counts)
	for i, e := range m.chosen[:choices] {
		m.row[i] = m.starts[e] + m.counts[e]
		m.counts[e]++
	}
}

// give has the first n experts have so many rows each, the same ones, for trials.
func (m *mixture) give(n, rows int) {
	clear(m.counts)
	clear(m.starts)
	for e := range min(n, len(m.counts)) {
		m.counts[e] = int32(rows)
	}
}
