package grammar

// MaxNesting is how deep objects and arrays nest in each other in any text, at least.
const MaxNesting = 64

// maxFrames is how many rules may wait for one that they call: one for each level of
// nesting, and those that read the parts of a value.
const maxFrames = MaxNesting + 4

// tooDeep is more frames than there are.
const tooDeep = maxFrames + 1

// classify finds the classes of bytes that no instruction tells apart.
func (p *program) classify() {
	var begins [257]bool
	for _, in := range p.code {
		if in.op == opByte && in.lo <= in.hi {
			begins[in.lo], begins[int(in.hi)+1] = true, true
		}
	}
	p.some = []byte{0}
	for b := 1; b < 256; b++ {
		if begins[b] {
			p.some = append(p.some, byte(b))
		}
		p.class[b] = uint8(len(p.some) - 1)
	}
}

// measure computes need: a thread whose way to the end of its rule would take more
// frames than are left is dropped, so that none gets stuck in a dead end, be it by the
// bound on nesting, a rule without an end or bytes that cannot be.
func (p *program) measure() {
	p.need = make([]int32, len(p.code))
	for i := range p.need {
		p.need[i] = tooDeep
	}
	before := p.predecessors()
	todo := []int32{end}
	p.need[end] = 0
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, pc := range before.of(at) {
			if n := p.needOf(pc); n < p.need[pc] {
				p.need[pc] = n
				todo = append(todo, pc)
			}
		}
	}
}

// needOf is the need of an instruction by those behind it.
func (p *program) needOf(pc int32) int32 {
	switch in := p.code[pc]; in.op {
	case opByte:
		if in.lo > in.hi {
			return tooDeep
		}
		return p.need[in.to]
	case opSplit:
		return min(p.need[in.to], p.need[in.alt])
	case opCall:
		begin := p.need[p.rules[in.alt]]
		if !p.tail(in) {
			begin++
		}
		return max(begin, p.need[in.to])
	}
	return 0
}

// tail says that a call is the last thing its rule does, so that no frame is pushed
// for it.
func (p *program) tail(call inst) bool { return p.code[call.to].op == opEnd }

// edges are lists of instructions by instruction.
type edges struct {
	from, list []int32
}

func (e edges) of(pc int32) []int32 { return e.list[e.from[pc]:e.from[pc+1]] }

// predecessors are the instructions whose need depends on each.
func (p *program) predecessors() edges {
	e := edges{from: make([]int32, len(p.code)+1)}
	for pc := range p.code {
		for _, to := range p.successors(int32(pc)) {
			e.from[to+1]++
		}
	}
	for pc := range p.code {
		e.from[pc+1] += e.from[pc]
	}
	e.list = make([]int32, e.from[len(p.code)])
	at := append([]int32(nil), e.from...)
	for pc := range p.code {
		for _, to := range p.successors(int32(pc)) {
			e.list[at[to]] = int32(pc)
			at[to]++
		}
	}
	return e
}

// successors are the instructions that the need of one depends on, twice where they
// are the same.
func (p *program) successors(pc int32) [2]int32 {
	switch in := p.code[pc]; in.op {
	case opSplit:
		return [2]int32{in.to, in.alt}
	case opCall:
		return [2]int32{in.to, p.rules[in.alt]}
	default:
		return [2]int32{in.to, in.to}
	}
}
