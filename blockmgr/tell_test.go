package blockmgr

import (
	"fmt"
	"slices"
	"strings"
)

// tellAnswer says what the books answered.
func (s *story) tellAnswer() {
	for _, g := range s.out.Grants {
		text := fmt.Sprintf("%d may compute %d-%d", g.Slot, g.Start, g.Start+g.Count-1)
		if g.Count == 0 {
			text = fmt.Sprintf("%d is back with %d", g.Slot, g.Start)
		}
		if g.Matched > 0 {
			text += fmt.Sprintf(", finds %d", g.Matched)
		}
		for _, n := range g.New {
			text += fmt.Sprintf(", %sblocks %s from page %d", s.inGroup(n.Group), ranges(n.Blocks), n.Index)
		}
		s.tell("%s", text)
	}
	for _, c := range s.out.Copies {
		s.tell("%sblock %d is copied to %d for %d", s.inGroup(c.Group), c.From, c.To, c.Slot)
	}
	for _, w := range s.out.Waits {
		s.tell("%d waits for what %d computes", w.Slot, w.On)
	}
	for _, r := range s.out.Refused {
		if r.Missing > 0 {
			s.tell("%d lacks %d", r.Slot, r.Missing)
		} else {
			s.tell("%d waits its turn", r.Slot)
		}
	}
	for _, p := range s.out.Preempted {
		s.tell("%d is given up", p.Slot)
	}
	s.tell("room for %s", s.rooms())
}

// tellBooks says what every block is used for.
func (s *story) tellBooks() {
	for i := range s.slots {
		if !s.slots[i].open {
			continue
		}
		for g, table := range s.slots[i].tables {
			s.tell("%d holds %s%s", i, s.inGroup(int32(g)), marked(&s.pools[g], table))
		}
	}
	for i := 0; i < len(s.draining); {
		d := s.draining[i]
		var blocks []int32 // that drain together; the deepest was given up first
		for ; i < len(s.draining) && s.draining[i].after == d.after && s.draining[i].group == d.group; i++ {
			blocks = append(blocks, s.draining[i].block)
		}
		slices.Reverse(blocks)
		s.tell("until step %d drains %s%s", d.after, s.inGroup(d.group), ranges(blocks))
	}
	for g := range s.pools {
		p := &s.pools[g]
		var idle []int32
		for b := p.idle.next[p.idle.head()]; b != p.idle.head(); b = p.idle.next[b] {
			idle = append(idle, b)
		}
		if idle != nil {
			s.tell("idle %s%s, the first to go first", s.inGroup(int32(g)), ranges(idle))
		}
	}
}

// marked are the blocks of a table, with a star behind those that are published and
// how many refer to those that are shared.
func marked(p *pool, table []int32) string {
	if len(table) == 0 {
		return "nothing"
	}
	var parts []string
	for _, b := range table {
		text := fmt.Sprint(b)
		if p.node[b] != nil {
			text += "*"
		}
		if p.refs[b] > 1 {
			text += fmt.Sprintf("(%d)", p.refs[b])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// rooms says how many blocks are free and idle.
func (s *story) rooms() string {
	var parts []string
	for g := range s.pools {
		p := &s.pools[g]
		text := fmt.Sprint(p.room())
		if p.idle.count > 0 {
			text += fmt.Sprintf(" (%d idle)", p.idle.count)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " and ")
}

// inGroup names a cache group where there are several.
func (s *story) inGroup(g int32) string {
	if len(s.pools) == 1 {
		return ""
	}
	return fmt.Sprintf("group %d ", g)
}

// ranges writes 3 4 5 9 as 3-5 9.
func ranges(n []int32) string {
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", n[i], n[j]))
		} else {
			parts = append(parts, fmt.Sprint(n[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, " ")
}
