package grammar

// A grammar is a program of instructions that reads a text byte by byte, in the manner
// of K. Thompson's regular expression machine (1968) with calls of rules, which is
// W. A. Woods's recursive transition network (1970): all ways to read are followed at
// once, as threads.

// op says what an instruction does.
type op uint8

const (
	opByte  op = iota // reads a byte from lo to hi, goes on at to
	opSplit           // goes on at to and at alt
	opCall            // runs the rule alt, then goes on at to
	opEnd             // ends its rule
)

type inst struct {
	op      op
	lo, hi  byte
	to, alt int32
}

// The first two instructions of every program.
const (
	dead int32 = iota // reads nothing, so that nothing gets past it
	end
)

// maxCode is how many instructions a program may have, of 12 bytes each.
const maxCode = 1 << 17

// program is a compiled grammar; it is read only.
type program struct {
	code  []inst
	rules []int32         // where each begins; the first is the whole text
	like  map[int32]int32 // see builder
	need  []int32         // by instruction, the frames that a thread there must still push; tooDeep: it never ends
	class [256]uint8
	some  []byte // a byte of each class
}

// builder writes a program from its end to its beginning: what emits something is
// given where to go on and answers where it begins. The first error stays.
type builder struct {
	code    []inst
	rules   []int32
	named   map[any]int32
	pending []func()
	longest int // bytes of a token
	err     error

	// like has instructions from which every token goes on as from another one, as in
	// counted repetitions with more left than a token has bytes: their masks are the same.
	like map[int32]int32
}

func newBuilder(longest int) *builder {
	return &builder{
		code:    []inst{dead: {op: opByte, lo: 1}, end: {op: opEnd}},
		named:   make(map[any]int32),
		longest: longest,
		like:    make(map[int32]int32),
	}
}

// fail keeps the first error and answers dead.
func (b *builder) fail(err error) int32 {
	if b.err == nil {
		b.err = err
	}
	return dead
}

func (b *builder) add(i inst) int32 {
	if len(b.code) >= maxCode {
		return b.fail(ErrTooLarge)
	}
	b.code = append(b.code, i)
	return int32(len(b.code) - 1)
}

// rule is the number of the rule of a name, whose body is emitted later, so that rules
// may refer to each other in any way and nothing here recurses over them.
func (b *builder) rule(name any, body func(next int32) int32) int32 {
	if r, ok := b.named[name]; ok {
		return r
	}
	r := int32(len(b.rules))
	b.named[name] = r
	b.rules = append(b.rules, dead)
	b.pending = append(b.pending, func() { b.rules[r] = body(end) })
	return r
}

// bytes reads one byte from lo to hi.
func (b *builder) bytes(lo, hi byte, next int32) int32 {
	return b.add(inst{op: opByte, lo: lo, hi: hi, to: next})
}

// text reads s.
func (b *builder) text(s string, next int32) int32 {
	for i := len(s) - 1; i >= 0; i-- {
		next = b.bytes(s[i], s[i], next)
	}
	return next
}

// either goes on at all of these, which may be dead.
func (b *builder) either(at ...int32) int32 {
	all := dead
	for _, pc := range at {
		switch {
		case all == dead:
			all = pc
		case pc != dead:
			all = b.add(inst{op: opSplit, to: all, alt: pc})
		}
	}
	return all
}

// call runs a rule.
func (b *builder) call(rule, next int32) int32 {
	return b.add(inst{op: opCall, to: next, alt: rule})
}

// hole is an instruction that is filled later by become.
func (b *builder) hole() int32 { return b.add(inst{op: opSplit}) }

// become makes a hole go on at pc.
func (b *builder) become(hole, pc int32) {
	if hole != dead {
		b.code[hole] = inst{op: opSplit, to: pc, alt: pc}
	}
}

// star reads what body emits any number of times.
func (b *builder) star(body func(next int32) int32, next int32) int32 {
	loop := b.hole()
	begin := body(loop)
	if loop != dead {
		b.code[loop] = inst{op: opSplit, to: begin, alt: next}
	}
	return loop
}

// finish emits the rules that are pending, and is the program that begins with rule 0.
func (b *builder) finish(stopped func() error) (*program, error) {
	for len(b.pending) > 0 && b.err == nil {
		body := b.pending[0]
		b.pending = b.pending[1:]
		body()
		if err := stopped(); err != nil {
			return nil, err
		}
	}
	if b.err != nil {
		return nil, b.err
	}
	p := &program{code: b.code, rules: b.rules, like: b.like}
	p.classify()
	p.measure()
	if p.need[p.rules[0]] >= tooDeep {
		return nil, ErrNothing
	}
	return p, nil
}
