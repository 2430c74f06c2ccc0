package tuning

import (
	"slices"
	"time"
)

// Question is a figure to choose.
type Question struct {
	Key        string
	Default    int   // what it is, and stays unless another one is clearly faster
	Candidates []int // the others, the best guess first
	Set        func(int)
	Run        func() error  // what takes the less time the better the figure is
	Rounds     int           // how often each is measured; odd
	Longest    time.Duration // of a run that is worth it
}

// Asker answers questions: by what is known, else by measuring.
type Asker struct {
	Prefix  string                       // of all keys
	Known   func(key string) (int, bool) // may be nil
	Clock   func(run func() error) (time.Duration, error)
	Choices []Choice // so far
}

// Elapsed is a clock of the CPU.
func Elapsed(run func() error) (time.Duration, error) {
	began := time.Now()
	err := run()
	return time.Since(began), err
}

// Ask sets the figure of q.
func (t *Asker) Ask(q *Question) error {
	if len(q.Candidates) == 0 {
		return nil
	}
	key := t.Prefix + q.Key
	if t.Known != nil {
		if v, ok := t.Known(key); ok && (v == q.Default || slices.Contains(q.Candidates, v)) {
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

func (t *Asker) choose(q *Question, key string, v int, measured bool) {
	q.Set(v)
	t.Choices = append(t.Choices, Choice{Key: key, Value: v, Default: q.Default, Measured: measured})
}

// clearly is how much of the default's a candidate's median may be at most to be taken:
// medians of equal figures often differ by 3 in 100 on a machine with other work.
const clearly = 0.95

// fastest runs the default and the candidates in turn, so that what disturbs one disturbs
// all, the first time to warm up. It answers the one with the least median; the default,
// unless that one is clearly faster, and was in three of four rounds, or where runs take
// too long.
func (t *Asker) fastest(q *Question) (int, error) {
	values := append([]int{q.Default}, q.Candidates...)
	times := make([][]time.Duration, len(values))
	for round := range q.Rounds + 1 {
		for i, v := range values {
			q.Set(v)
			d, err := t.Clock(q.Run)
			if err != nil {
				return q.Default, err
			}
			if round == 0 && i == 0 && d > q.Longest {
				return q.Default, nil
			}
			if round > 0 {
				times[i] = append(times[i], d)
			}
		}
	}
	best, least := 0, clearly*float64(median(times[0]))
	for i := 1; i < len(values); i++ {
		if m := float64(median(times[i])); m < least && 4*wins(times[i], times[0]) >= 3*q.Rounds {
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
