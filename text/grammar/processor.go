package grammar

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// maxTrails bounds what a Processor remembers of its sequences: so many of them, and
// so many ids of all together.
const (
	maxTrails   = 128
	maxTrailIDs = 1 << 20
)

// Processor bans the tokens that would lead out of a grammar. What it answers is a
// function of the ids alone; of the sequences that it has seen it remembers the last
// states, so that a call costs what one token costs, and reads the ids again where it
// remembers none. It is safe for concurrent use and serves all sequences of a request.
type Processor struct {
	grammar *Grammar
	ends    []int32

	// Under the grammar's lock:
	trails []*trail // the one used last comes last
	kept   int      // ids of all
}

// trail is a sequence that was seen.
type trail struct {
	ids   []int32 // generated
	state *state  // after them
}

// NewProcessor makes the processor of a request that these ids end: those of the model
// and of the request together. They are allowed where the text may end and nowhere
// else; a request without any fails when its text is complete.
func (g *Grammar) NewProcessor(ends []int32) *Processor {
	return &Processor{grammar: g, ends: slices.Clone(ends)}
}

// Process implements sampling.Processor. Errors: ErrLeft where the generated ids do not
// begin a text of the grammar, ErrTooAmbiguous, and ErrComplete where the text can only
// end and the logits of all ends are -Inf.
func (p *Processor) Process(ids []int32, prompt int, logits []float32) error {
	mask, s, err := p.look(ids[prompt:])
	if err != nil {
		return err
	}
	if !p.apply(mask, s.ends, logits) && len(s.threads) == 0 {
		return ErrComplete
	}
	return nil
}

// look is the mask after ids, and the state.
func (p *Processor) look(ids []int32) (mask []uint64, s *state, err error) {
	g := p.grammar
	g.mu.Lock()
	defer g.mu.Unlock()
	t := p.trail(ids)
	for _, id := range ids[len(t.ids):] {
		s, err := g.machine.read(t.state, id)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: id %d after %d of them", err, id, len(t.ids))
		}
		t.ids, t.state = append(t.ids, id), s
		p.kept++
	}
	p.shorten()
	mask, err = g.machine.maskOf(t.state)
	return mask, t.state, err
}

// trail is that of the longest beginning of ids that is remembered, a new one where it
// is none, as the last of all.
func (p *Processor) trail(ids []int32) *trail {
	best, length := -1, 0
	for i, t := range p.trails {
		n := len(t.ids)
		if n > length && n <= len(ids) && t.ids[n-1] == ids[n-1] && slices.Equal(t.ids, ids[:n]) {
			best, length = i, n
		}
	}
	if best < 0 {
		p.trails = append(p.trails, &trail{state: p.grammar.start})
	} else {
		t := p.trails[best]
		p.trails = append(slices.Delete(p.trails, best, best+1), t)
	}
	return p.trails[len(p.trails)-1]
}

// shorten drops the trails that were used longest ago, but not the last.
func (p *Processor) shorten() {
	drop := 0
	for ; len(p.trails)-drop > 1 && (len(p.trails)-drop > maxTrails || p.kept > maxTrailIDs); drop++ {
		p.kept -= len(p.trails[drop].ids)
	}
	p.trails = slices.Delete(p.trails, 0, drop)
}

// read is the state after a token. Errors: ErrLeft, ErrTooAmbiguous.
func (m *machine) read(s *state, id int32) (*state, error) {
	m.begin()
	text := m.vocab.text(id)
	if len(text) == 0 {
		return nil, ErrLeft
	}
	for _, b := range text {
		s = m.step(s, b)
	}
	switch {
	case m.work < 0:
		return nil, ErrTooAmbiguous
	case s == m.nobody:
		return nil, ErrLeft
	}
	return s, nil
}

// apply bans all ids but those of a mask, and the ends where the text may not end. It says
// whether an end is left.
func (p *Processor) apply(mask []uint64, ends bool, logits []float32) (ending bool) {
	banned := float32(math.Inf(-1))
	kept := make([]float32, 0, 8)
	for _, id := range p.ends {
		if ends && id >= 0 && int(id) < len(logits) {
			kept = append(kept, logits[id])
		} else {
			kept = append(kept, banned)
		}
	}
	for i, w := range mask {
		part := logits[min(64*i, len(logits)):min(64*i+64, len(logits))]
		out := ^w
		if len(part) < 64 {
			out &= 1<<len(part) - 1
		}
		for ; out != 0; out &= out - 1 {
			part[bits.TrailingZeros64(out)] = banned
		}
	}
	for k := 64 * len(mask); k < len(logits); k++ {
		logits[k] = banned
	}
	for i, id := range p.ends {
		if id >= 0 && int(id) < len(logits) {
			logits[id] = kept[i]
			ending = ending || kept[i] > banned
		}
	}
	return ending
}
