package grammar

// Bounds of a machine.
const (
	maxCache = 16 << 20 // bytes of states, frames and masks that are kept
	maxWork  = 1 << 22  // for a mask or a token; one is a step in the trie, a few nanoseconds
	visit    = 8        // the work of following a thread
)

// machine runs a program: a lazy automaton whose states are sets of threads, kept for
// as long as they fit. It belongs to one goroutine at a time.
type machine struct {
	*program
	vocab  *Vocabulary
	states map[string]*state
	frames map[frameKey]*frame
	floors [maxFrames + 1]*frame // by depth
	nobody *state                // the state without threads
	base   *frame                // below the first rule
	last   uint64                // id of a frame
	epoch  uint32                // how often states were dropped
	limit  int                   // of bytes
	bytes  int                   // that states, frames and masks take
	work   int                   // left to do; below 0: what is made is incomplete, and not kept
	path   []*state              // of a walk, by depth

	// While a state is made:
	found        []thread
	todo         []thread
	seen         map[thread]struct{}
	ends, leaves bool
	key          []byte
}

// frame is a rule that waits for one that it has called.
type frame struct {
	back  int32 // where it goes on; textEnds and floor are none
	depth int32
	up    *frame
	id    uint64
}

// frameKey is what tells frames apart.
type frameKey struct {
	back int32
	up   uint64
}

const (
	textEnds int32 = -1 - iota // below the first rule: the text may end
	floor                      // below a rule that is looked at alone
)

// thread is one way to read the text so far: an instruction that reads a byte.
type thread struct {
	pc    int32
	frame *frame
}

// state is all threads after some text.
type state struct {
	threads []thread // by frame
	ends    bool     // the text may end here
	leaves  bool     // it may leave the rule that is looked at alone
	epoch   uint32   // what follows is of: dropped where it is not the machine's
	next    []*state // by class of the byte; nil: not known yet
	mask    []uint64 // ids that may come next; nil: not known yet
	exits   []int32  // with mask, where threads stand on the floor: nodes of the trie that leave the rule
}

func newMachine(p *program, v *Vocabulary) *machine {
	m := &machine{program: p, vocab: v, seen: make(map[thread]struct{}), nobody: &state{}, path: make([]*state, v.depth+1), limit: maxCache}
	m.base = m.newFrame(textEnds, 0, nil)
	for depth := range m.floors {
		m.floors[depth] = m.newFrame(floor, int32(depth), nil)
	}
	m.forget()
	return m
}

func (m *machine) newFrame(back, depth int32, up *frame) *frame {
	m.last++
	return &frame{back: back, depth: depth, up: up, id: m.last}
}

// begin allows for the work of a mask or a token.
func (m *machine) begin() { m.work = maxWork }

// forget drops all states. Those in use stay good, and hold nothing else alive.
func (m *machine) forget() {
	for _, s := range m.states {
		clear(s.next)
		s.mask, s.exits = nil, nil
	}
	m.states, m.frames, m.bytes = make(map[string]*state), make(map[frameKey]*frame), 0
	m.epoch++
}

// adopt drops what a state knows of others that were dropped.
func (m *machine) adopt(s *state) {
	if s.epoch == m.epoch {
		return
	}
	clear(s.next)
	s.epoch, s.mask, s.exits = m.epoch, nil, nil
	m.bytes += 8 * len(s.next)
}

// start is the state before any text.
func (m *machine) start() *state {
	m.enter(m.rules[0], m.base)
	return m.settle()
}

// step is the state after a byte.
func (m *machine) step(s *state, b byte) *state {
	if len(s.threads) == 0 {
		return m.nobody
	}
	m.adopt(s)
	c := m.class[b]
	if to := s.next[c]; to != nil {
		return to
	}
	m.work -= len(s.threads)
	for _, t := range s.threads {
		if in := m.code[t.pc]; in.lo <= b && b <= in.hi {
			m.enter(in.to, t.frame)
		}
	}
	to := m.settle()
	if m.work >= 0 && s.epoch == m.epoch {
		s.next[c] = to
	}
	return to
}

// popped is the state of a rule that goes on because the one it called has ended.
func (m *machine) popped(f *frame) *state {
	m.enter(f.back, f.up)
	return m.settle()
}

// alone is the state of some threads of a frame as if nothing stood below it but the
// floor, of the same depth.
func (m *machine) alone(threads []thread) *state {
	m.work -= visit * len(threads)
	for _, t := range threads {
		m.found = append(m.found, thread{t.pc, m.floors[t.frame.depth]})
	}
	return m.settle()
}
