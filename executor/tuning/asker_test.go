package tuning

import (
	"errors"
	"testing"
	"time"
)

// asked has an asker choose for q, where a run in a round takes what is said of the figure
// that is set. It answers what was chosen and how often something ran.
func asked(t *testing.T, q Question, known map[string]int, takes func(value, round int) time.Duration) (chosen, runs int, list []Choice) {
	t.Helper()
	value, rounds := 0, map[int]int{}
	q.Set = func(v int) { value = v }
	to := &Asker{
		Prefix: "here, ",
		Known:  func(key string) (int, bool) { v, ok := known[key]; return v, ok },
		Clock: func(func() error) (time.Duration, error) {
			runs++
			rounds[value]++
			return takes(value, rounds[value]-1), nil
		},
	}
	if err := to.Ask(&q); err != nil {
		t.Fatal(err)
	}
	return value, runs, to.Choices
}

// TestAskerChooses takes what is clearly faster, whatever single runs say.
func TestAskerChooses(t *testing.T) {
	q := Question{Key: "it", Default: 64, Candidates: []int{32, 16}, Rounds: 9, Longest: time.Second}
	for what, c := range map[string]struct {
		takes func(value, round int) time.Duration
		want  int
	}{
		"all alike":               {func(int, int) time.Duration { return 1000 }, 64},
		"a little faster":         {func(v, _ int) time.Duration { return 1000 + time.Duration(v)/4 }, 64},
		"clearly faster":          {func(v, _ int) time.Duration { return 800 + time.Duration(v) }, 16},
		"faster but in the first": {func(v, round int) time.Duration { return time.Duration(1000*v) / time.Duration(1+round*round) }, 16},
		"slower":                  {func(v, _ int) time.Duration { return time.Duration(2000 - v) }, 64},
		"outliers of the default": {func(v, round int) time.Duration { return 1000 + time.Duration(v/64*round%3*1000) }, 64},
		"fast at times": {func(v, round int) time.Duration {
			if v == 32 && round > 4 {
				return 100
			}
			return 1000 - time.Duration(round)
		}, 64},
	} {
		got, runs, list := asked(t, q, nil, c.takes)
		if got != c.want || runs != 3*10 {
			t.Errorf("%s: %d after %d runs, want %d after 30", what, got, runs, c.want)
		}
		if want := (Choice{Key: "here, it", Value: c.want, Default: 64, Measured: true}); len(list) != 1 || list[0] != want {
			t.Errorf("%s: told %v, want %v", what, list, want)
		}
	}
}

// TestAskerKnows runs nothing for what is known, unless that is no candidate.
func TestAskerKnows(t *testing.T) {
	q := Question{Key: "it", Default: 64, Candidates: []int{32, 16}, Rounds: 3, Longest: time.Second}
	slow := func(v, _ int) time.Duration { return time.Duration(v) }
	for known, want := range map[int]int{64: 64, 32: 32, 16: 16, 48: 16, -1: 16} {
		got, runs, list := asked(t, q, map[string]int{"here, it": known}, slow)
		measured := known == 48 || known == -1
		if got != want || (runs > 0) != measured || len(list) != 1 || list[0].Measured != measured {
			t.Errorf("known as %d: %d after %d runs, told %v", known, got, runs, list)
		}
	}
	if _, runs, list := asked(t, Question{Key: "it", Default: 1, Rounds: 3}, nil, slow); runs != 0 || len(list) != 0 {
		t.Errorf("without Candidates: %d runs, told %v", runs, list)
	}
}

// TestAskerLeavesLongRuns keeps the default where one takes too long.
func TestAskerLeavesLongRuns(t *testing.T) {
	q := Question{Key: "it", Default: 64, Candidates: []int{32}, Rounds: 3, Longest: 10}
	if got, runs, _ := asked(t, q, nil, func(v, _ int) time.Duration { return time.Duration(v) }); got != 64 || runs != 1 {
		t.Errorf("%d after %d runs, want 64 after one", got, runs)
	}
}

// TestAskerFails with what it runs.
func TestAskerFails(t *testing.T) {
	broken := errors.New("broken")
	to := &Asker{Clock: Elapsed}
	q := Question{Default: 1, Candidates: []int{2}, Set: func(int) {}, Run: func() error { return broken }, Rounds: 3}
	if err := to.Ask(&q); !errors.Is(err, broken) || len(to.Choices) != 0 {
		t.Errorf("error %v, told %v", err, to.Choices)
	}
}
