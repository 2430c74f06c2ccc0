package text

import (
	"fmt"
	"time"

	"github.com/ardanlabs/jinja"
)

// budget stops a rendering that takes too many steps or too long. The library
// has no such limit; its loops call step because addSteps put that into the
// source.
type budget struct {
	left     int64
	limit    int64
	deadline time.Time
}

func newBudget(steps int64, deadline time.Time) *budget {
	return &budget{left: steps, limit: steps, deadline: deadline}
}

// spend takes n steps.
func (b *budget) spend(n int64) error {
	b.left -= n
	if b.left < 0 {
		return fmt.Errorf("%w: %w after %d steps", ErrTemplate, errRunaway, b.limit)
	}
	if time.Now().After(b.deadline) {
		return fmt.Errorf("%w: %w after %v", ErrTemplate, errRunaway, renderTime)
	}
	return nil
}

// step is called by the template for every round of a loop and every macro. It
// prints nothing.
func (b *budget) step([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
	return jinja.NewString(""), b.spend(1)
}

// rangeOf is Python's range as a list; the library's own takes memory for any
// length it is asked for.
func (b *budget) rangeOf(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) < 1 || len(args) > 3 {
		return jinja.None(), fmt.Errorf("range takes 1 to 3 arguments, not %d", len(args))
	}
	bounds := [3]int64{0, 0, 1} // start, stop, step
	for i, a := range args {
		if !a.IsInt() {
			return jinja.None(), fmt.Errorf("range takes whole numbers, not %.40s", a)
		}
		bounds[i] = a.AsInt()
	}
	if len(args) == 1 {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	if bounds[2] == 0 {
		return jinja.None(), fmt.Errorf("range takes no step of 0")
	}
	i, stop, step := bounds[0], bounds[1], bounds[2]
	var items []jinja.Value
	for step > 0 && i < stop || step < 0 && i > stop {
		if err := b.spend(1); err != nil {
			return jinja.None(), err
		}
		items = append(items, jinja.NewInt(i))
		next := i + step
		if (next > i) != (step > 0) {
			break // past the largest number, and so past stop
		}
		i = next
	}
	return jinja.NewList(items), nil
}
