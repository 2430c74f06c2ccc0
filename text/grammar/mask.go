package grammar

// The mask of a state is put together from rules looked at alone, as Y. Dong et al.,
// "XGrammar: Flexible and Efficient Structured Generation Engine for Large Language
// Models" (2024) do it: most tokens are accepted or refused within the rule that reads
// now, whatever has called it, and only those that leave the rule are tried with the
// rules that wait. What is known of a rule alone serves wherever it is called at that
// depth.

// maskOf is the set of ids that may come after s, which is read only. Errors:
// ErrTooAmbiguous.
func (m *machine) maskOf(s *state) ([]uint64, error) {
	m.adopt(s)
	if s.mask != nil {
		return s.mask, nil
	}
	m.begin()
	if same := m.alike(s); same != s {
		if m.work < 0 {
			return nil, ErrTooAmbiguous
		}
		mask, err := m.maskOf(same)
		m.adopt(s)
		s.mask = mask
		return mask, err
	}
	mask := make([]uint64, m.vocab.words())
	for rest := s.threads; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].frame == rest[0].frame {
			n++
		}
		m.addRule(mask, rest[:n])
		rest = rest[n:]
		if m.work < 0 {
			return nil, ErrTooAmbiguous
		}
	}
	m.adopt(s)
	s.mask = mask
	m.bytes += 8 * len(mask)
	return mask, nil
}

// alike is a state with the same mask: s where there is no other.
func (m *machine) alike(s *state) *state {
	other := false
	for _, t := range s.threads {
		_, is := m.like[t.frame.back]
		other = other || is
	}
	if !other {
		return s
	}
	m.work -= visit * len(s.threads)
	for _, t := range s.threads {
		if back, is := m.like[t.frame.back]; is {
			t.frame = m.push(back, t.frame.up)
		}
		if _, again := m.seen[t]; !again {
			m.seen[t] = struct{}{}
			m.found = append(m.found, t)
		}
	}
	return m.settle()
}

// addRule adds what threads of one frame may read.
func (m *machine) addRule(mask []uint64, threads []thread) {
	inside, exits := m.maskAlone(m.alone(threads))
	for i, w := range inside {
		mask[i] |= w
	}
	if f := threads[0].frame; f.back >= 0 && len(exits) > 0 {
		up := m.popped(f)
		for _, node := range exits {
			m.walk(up, node, mask, nil)
		}
	}
}

// maskAlone is the ids that a rule alone may read or leaves with, and the nodes of the
// trie where it is left.
func (m *machine) maskAlone(s *state) (mask []uint64, exits []int32) {
	m.adopt(s)
	if s.mask != nil {
		return s.mask, s.exits
	}
	mask = make([]uint64, m.vocab.words())
	exits = m.walk(s, 0, mask, nil)
	if m.work >= 0 && s.epoch == m.epoch {
		s.mask, s.exits = mask, exits
		m.bytes += 8*len(mask) + 4*len(exits)
	}
	return mask, exits
}

// walk reads all that is below a node of the trie, with s there, adds the ids of texts
// that can be read to mask, and appends nodes that leave the rule looked at alone.
func (m *machine) walk(s *state, node int32, mask []uint64, exits []int32) []int32 {
	nodes := m.vocab.nodes
	m.path[nodes[node].depth] = s
	after := nodes[node].after
	for i := node + 1; i < after && m.work >= 0; {
		n := &nodes[i]
		m.work--
		to := m.step(m.path[n.depth-1], n.b)
		if to == m.nobody {
			i = n.after
			continue
		}
		for _, id := range m.vocab.ids[n.ids:nodes[i+1].ids] {
			mask[id/64] |= 1 << (id % 64)
		}
		if to.leaves {
			exits = append(exits, i)
		}
		m.path[n.depth] = to
		i++
	}
	return exits
}
