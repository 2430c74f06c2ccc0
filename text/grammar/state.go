package grammar

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// enter adds a thread at an instruction to the state that is made: it follows the ways
// that read nothing.
func (m *machine) enter(pc int32, f *frame) {
	m.todo = append(m.todo[:0], thread{pc, f})
	for len(m.todo) > 0 {
		t := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if t.frame.depth+m.need[t.pc] > maxFrames {
			continue
		}
		m.work -= visit
		if _, again := m.seen[t]; again || m.work < 0 {
			continue
		}
		m.seen[t] = struct{}{}
		m.follow(t)
	}
}

// follow goes on at what is behind an instruction that reads nothing.
func (m *machine) follow(t thread) {
	switch in := m.code[t.pc]; in.op {
	case opByte:
		m.found = append(m.found, t)
	case opSplit:
		m.todo = append(m.todo, thread{in.to, t.frame}, thread{in.alt, t.frame})
	case opCall:
		f := t.frame
		if !m.tail(in) {
			f = m.push(in.to, f)
		}
		m.todo = append(m.todo, thread{m.rules[in.alt], f})
	case opEnd:
		switch t.frame.back {
		case textEnds:
			m.ends = true
		case floor:
			m.leaves = true
		default:
			m.todo = append(m.todo, thread{t.frame.back, t.frame.up})
		}
	}
}

// push is the frame that goes on at back, above another.
func (m *machine) push(back int32, up *frame) *frame {
	key := frameKey{back, up.id}
	f := m.frames[key]
	if f == nil {
		f = m.newFrame(back, up.depth+1, up)
		m.frames[key] = f
		m.bytes += 96
	}
	return f
}

// settle ends the making of a state, and is the one that is kept for these threads.
func (m *machine) settle() *state {
	slices.SortFunc(m.found, func(a, b thread) int {
		return cmp.Or(cmp.Compare(a.frame.id, b.frame.id), cmp.Compare(a.pc, b.pc))
	})
	m.key = append(m.key[:0], 0)
	if m.ends {
		m.key[0] |= 1
	}
	if m.leaves {
		m.key[0] |= 2
	}
	for _, t := range m.found {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(t.pc))
		m.key = binary.LittleEndian.AppendUint64(m.key, t.frame.id)
	}
	s := m.states[string(m.key)]
	switch {
	case m.work < 0:
		s = m.nobody
	case s == nil:
		s = m.keep()
	}
	m.found, m.ends, m.leaves = m.found[:0], false, false
	clear(m.seen)
	return s
}

// keep makes a state of what was found.
func (m *machine) keep() *state {
	if len(m.found) == 0 && !m.ends && !m.leaves {
		return m.nobody
	}
	s := &state{threads: slices.Clone(m.found), ends: m.ends, leaves: m.leaves, next: make([]*state, len(m.some))}
	m.bytes += 192 + len(m.key) + 16*len(s.threads) + 8*len(s.next)
	if m.bytes > m.limit {
		m.forget()
	}
	s.epoch = m.epoch
	m.states[string(m.key)] = s
	return s
}
