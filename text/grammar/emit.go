package grammar

import "fmt"

// spelling says how the characters of a pattern are written.
type spelling uint8

const (
	asText spelling = iota // in UTF-8
	asJSON                 // inside of a JSON string: as they are, or by the escape that they need
)

// counts bounds the number of characters that a pattern reads. Without a most there is
// no bound.
type counts struct {
	least, most int
	limited     bool
}

// maxPlaces is how many places a pattern has, which are its parts times its counts at most.
const maxPlaces = 1 << 15

// place is a part of a pattern and what was read before it.
type place struct {
	part   int32
	count  int  // characters, up to least or most
	inside bool // something was read
	over   bool // nothing more may be read
}

// pattern reads a text of p that has so many characters.
func (b *builder) pattern(p *pattern, how spelling, n counts, next int32) int32 {
	at := make(map[place]int32)
	var todo []place
	visit := func(x place) int32 {
		pc, ok := at[x]
		if !ok && len(at) >= maxPlaces {
			return b.fail(fmt.Errorf("%w: a pattern that its length multiplies to more than %d characters", ErrTooLarge, maxPlaces))
		}
		if !ok {
			pc = b.hole()
			at[x] = pc
			todo = append(todo, x)
		}
		return pc
	}
	start := visit(place{part: p.start})
	for len(todo) > 0 && b.err == nil {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		to := func(part int32) int32 { y := x; y.part = part; return visit(y) }
		b.become(at[x], b.part(p, x, how, n, to, visit, next))
		if like := p.parts[x.part].like; like != failing {
			b.like[at[x]] = to(like)
		}
	}
	return start
}

// part emits one part of a pattern at a place.
func (b *builder) part(p *pattern, x place, how spelling, n counts, to func(int32) int32, visit func(place) int32, next int32) int32 {
	switch q := p.parts[x.part]; q.kind {
	case partMatch:
		if x.count >= n.least {
			return next
		}
	case partFork:
		return b.either(to(q.to), to(q.alt))
	case partBegin:
		if !x.inside {
			return to(q.to)
		}
	case partEnd:
		x.part, x.over = q.to, true
		return visit(x)
	case partRead:
		if x.over || n.limited && x.count == n.most {
			return dead
		}
		x.part, x.inside = q.to, true
		if n.limited || x.count < n.least {
			x.count++
		}
		return b.character(q.class, how, p.parts[q.to].like != failing, visit(x))
	}
	return dead
}

// character reads one character of a class. Large classes are rules, so that each is
// there once, and those before an instruction that is like another, so that only the
// frame differs.
func (b *builder) character(class []rune, how spelling, apart bool, next int32) int32 {
	emit := func(next int32) int32 {
		if how == asJSON {
			return b.jsonRunes(class, next)
		}
		return b.runes(class, next)
	}
	if len(class) == 0 {
		return dead
	}
	if !apart && len(class) <= 8 && class[len(class)-1] < 0x80 && (how == asText || class[0] >= ' ') {
		return emit(next)
	}
	return b.call(b.rule(classKey{how, &class[0]}, emit), next)
}

// classKey names the rule of a class. The same slice comes for every repetition of a
// part of a pattern.
type classKey struct {
	how   spelling
	class *rune
}
