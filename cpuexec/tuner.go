package cpuexec

import (
	"slices"
	"time"
)

// question is a figure to choose.
type question struct {
	key        string
	def        int   // what it is, and stays unless another one is clearly faster
	candidates []int // the others, the best guess first
	set        func(int)
	run        func() error  // what takes the less time the better the figure is
	rounds     int           // how often each is measured; odd
	longest    time.Duration // of a run that is worth it
}

// tuner answers questions: by what is known, else by measuring.
type tuner struct {
	prefix  string // of all keys
	known   func(key string) (int, bool)
	clock   func(run func() error) (time.Duration, error)
	choices []Choice
}

// elapsed is the clock of New.
func elapsed(run func() error) (time.Duration, error) {
	began := time.Now()
	err := run()
	return time.Since(began), err
}

// ask sets the figure of q.
func (t *tuner) ask(q *question) error {
	if len(q.candidates) == 0 {
		return nil
	}
	key := t.prefix + q.key
	if t.known != nil {
		if v, ok := t.known(key); ok && (v == q.def || slices.Contains(q.candidates, v)) {
			t.choose(q, key, v, false)
			return nil
		}
	}
	v, err := t.fastest(q)
	if err != nil {
		return err
	}
	t.choose(q, key, v, true)
	return nil
}

func (t *tuner) choose(q *question, key string, v int, measured bool) {
	q.set(v)
	t.choices = append(t.choices, Choice{Key: key, Value: v, Default: q.def, Measured: measured})
}

// clearly is how much of the default's a candidate's median may be at most to be taken:
// medians of equal figures often differ by 3 in 100 on a machine with other work.
const clearly = 0.95

// fastest runs the default and the candidates in turn, so that what disturbs one disturbs
// all, the first time to warm up. It answers the one with the least median; the default,
// unless that one is clearly faster, and was in three of four rounds, or where runs take
// too long.
func (t *tuner) fastest(q *question) (int, error) {
	values := append([]int{q.def}, q.candidates...)
	times := make([][]time.Duration, len(values))
	for round := range q.rounds + 1 {
		for i, v := range values {
			q.set(v)
			d, err := t.clock(q.run)
			if err != nil {
				return q.def, err
			}
			if round == 0 && i == 0 && d > q.longest {
				return q.def, nil
			}
			if round > 0 {
				times[i] = append(times[i], d)
			}
		}
	}
	best, least := 0, clearly*float64(median(times[0]))
	for i := 1; i < len(values); i++ {
		if m := float64(median(times[i])); m < least && 4*wins(times[i], times[0]) >= 3*q.rounds {
			best, least = i, m
		}
	}
	return values[best], nil
}

// median is that of an odd number of times.
func median(times []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(times))[len(times)/2]
}

// wins is in how many rounds a was faster than b.
func wins(a, b []time.Duration) (n int) {
	for i := range a {
		if a[i] < b[i] {
			n++
		}
	}
	return n
}
