package ranks

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// Ranks see what each has shown, of the same round, however fast the others are.
func TestExchange(t *testing.T) {
	const ranks, rounds = 2, 2000
	x := NewExchange(ranks, 4, time.Minute)
	errs := make(chan error)
	for rank := range ranks {
		m := x.Member(rank)
		go func() {
			for round := range rounds {
				m.Room()[0] = float32(rank*rounds + round)
				all, err := m.Show(1)
				if err != nil {
					errs <- err
					return
				}
				for other, shown := range all {
					if shown[0] != float32(other*rounds+round) {
						errs <- errors.New("a number of another round")
						return
					}
				}
			}
			errs <- nil
		}()
	}
	for range ranks {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// Who waits too long for another one gives up, by its number, and so do all.
func TestLostRank(t *testing.T) {
	x := NewExchange(2, 1, 10*time.Millisecond)
	_, err := x.Member(0).Show(1)
	if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("%v", err)
	}
	if _, err := x.Member(0).Show(1); !errors.Is(err, ErrLost) {
		t.Errorf("again: %v", err)
	}
}

// Nobody waits for who has failed.
func TestBreak(t *testing.T) {
	planted := errors.New("planted")
	x := NewExchange(2, 1, time.Minute)
	x.Break(0, planted)
	x.Break(1, errors.New("another one"))
	if _, err := x.Member(0).Show(1); err != planted {
		t.Errorf("%v", err)
	}
}

// Ranks in two processes, which map the same memory, see each other's numbers, and that one has
// given up.
func TestExchangeInOneMemory(t *testing.T) {
	const floats = 3
	memory := NewExchange(2, floats, 0).memory
	here, there := exchangeIn(memory, 2, floats, time.Minute), exchangeIn(memory, 2, floats, time.Minute)
	shown := make(chan [][]float32)
	go func() {
		m := there.Member(1)
		copy(m.Room(), []float32{4, 5, 6})
		all, err := m.Show(floats)
		if err != nil {
			t.Error(err)
		}
		shown <- all
	}()
	m := here.Member(0)
	copy(m.Room(), []float32{1, 2, 3})
	all, err := m.Show(floats)
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range [][][]float32{all, <-shown} {
		if !slices.Equal(side[0], []float32{1, 2, 3}) || !slices.Equal(side[1], []float32{4, 5, 6}) {
			t.Errorf("%v", side)
		}
	}
	there.Break(1, errors.New("planted"))
	if _, err := m.Show(floats); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "rank 1 has given up") {
		t.Errorf("%v", err)
	}
}
