package jinja

import (
	"context"
	"fmt"
	"math"
)

// MaxSource is how many bytes a source has at most.
const MaxSource = 128 << 10

// Limits bound one rendering. A field that is 0 has its default.
type Limits struct {
	// Steps are how many nodes of the tree are evaluated, items passed and pieces of
	// 64 bytes looked at; default 1<<24.
	Steps int64

	// Bytes are those of all values that are made and of what is written, whether they
	// are kept or not; default 64 MiB.
	Bytes int64

	// Depth is how deep evaluation nests: expressions, statements, calls of macros and
	// loops, and values within values that are printed or compared; default 10,000.
	Depth int
}

func (l *Limits) setDefaults() {
	if l.Steps == 0 {
		l.Steps = 1 << 24
	}
	if l.Bytes == 0 {
		l.Bytes = 64 << 20
	}
	if l.Depth == 0 {
		l.Depth = 10_000
	}
}

// budget is what is left of the limits of a rendering.
type budget struct {
	ctx    context.Context
	limits Limits
	steps  int64 // that are left
	check  int64 // with how many left the context is looked at again
	bytes  int64 // that are left
	depth  int
}

// between is how many steps pass between two looks at the context.
const between = 1 << 12

func newBudget(ctx context.Context, l Limits) budget {
	l.setDefaults()
	return budget{ctx: ctx, limits: l, steps: l.Steps, check: l.Steps, bytes: l.Bytes}
}

// spend takes n steps.
func (b *budget) spend(n int) {
	b.steps -= int64(n)
	if b.steps > b.check {
		return
	}
	if b.steps < 0 {
		throwLimit("after %d steps", b.limits.Steps)
	}
	b.check = max(b.steps-between, 0)
	if err := b.ctx.Err(); err != nil {
		panic(failure{fmt.Errorf("%w: its time is over: %w", ErrLimit, err)})
	}
}

// scan takes the steps for looking at n bytes.
func (b *budget) scan(n int) { b.spend(1 + n/64) }

// take counts n bytes that are about to be made.
func (b *budget) take(n int) {
	b.count(n)
	b.scan(n)
}

// count is take without the steps for looking at them.
func (b *budget) count(n int) {
	b.room(n)
	b.bytes -= int64(n)
}

// room fails if n bytes more would be too many.
func (b *budget) room(n int) {
	if int64(n) > b.bytes {
		throwLimit("with more than %d bytes of values", b.limits.Bytes)
	}
}

// roomTimes is room for count things of some size.
func (b *budget) roomTimes(count, size int) {
	if count > 0 && size > math.MaxInt/count {
		b.room(math.MaxInt)
	}
	b.room(count * size)
}

// takeTimes is take for count things of some size.
func (b *budget) takeTimes(count, size int) {
	b.roomTimes(count, size)
	b.take(count * size)
}

// enter goes one deeper; b.depth-- comes back, which a failure need not do.
func (b *budget) enter() {
	if b.depth++; b.depth > b.limits.Depth {
		throwLimit("more than %d deep", b.limits.Depth)
	}
}

func throwLimit(format string, args ...any) {
	panic(failure{fmt.Errorf("%w: "+format, append([]any{ErrLimit}, args...)...)})
}
