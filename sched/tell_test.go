package sched

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/executor"
)

func (s *story) tell(format string, args ...any) { fmt.Fprintf(&s.said, format+"\n", args...) }

// tellPlan says what the last answer of the books made the scheduler hand over.
func (s *story) tellPlan() {
	switch b := s.handed; {
	case b != nil:
		tokens := int32(0)
		for _, row := range b.Rows {
			tokens += row.Count
		}
		s.tell("step %d: %s, room for %s", b.Step, several(int(tokens), "token"), several(s.answer.Free, "block"))
		s.tellCopies(b.Copies)
		for _, row := range b.Rows {
			s.tellRow(row)
		}
		s.tellAhead()
	case len(s.answer.Waits)+len(s.answer.Refused)+len(s.answer.Preempted) > 0:
		s.tell("no step, room for %s", several(s.answer.Free, "block"))
	}
	s.tellWaiting()
	for _, p := range s.answer.Preempted {
		where := ""
		if p.How == blockmgr.ToHost {
			where = " to the host"
		}
		s.tell("  %d is given up%s", s.name(p.Slot), where)
	}
}

// tellCopies says which blocks are copied, and which leave for the host or come back.
func (s *story) tellCopies(copies []executor.Copy) {
	var out, in []int32
	for _, c := range copies {
		switch c.Kind {
		case executor.CopyOut:
			out = append(out, c.From)
		case executor.CopyIn:
			in = append(in, c.To)
		default:
			s.tell("  block %d is copied to %d", c.From, c.To)
		}
	}
	if out != nil {
		s.tell("  blocks %s go to the host", ranges(out))
	}
	if in != nil {
		s.tell("  blocks %s come from the host", ranges(in))
	}
}

// tellAhead says who gets its cache before its row.
func (s *story) tellAhead() {
	for _, g := range s.answer.Grants {
		if g.Count == 0 {
			s.tell("  %d is back, for a later step", s.name(g.Slot))
		}
	}
}

// tellWaiting says who got no row, and why; the given up are told of by themselves.
func (s *story) tellWaiting() {
	var keys []Key
	why := map[Key]string{}
	note := func(slot int32, reason string) {
		keys, why[s.name(slot)] = append(keys, s.name(slot)), reason
	}
	for _, w := range s.answer.Waits {
		note(w.Slot, fmt.Sprintf(" waiting for what %d computes", s.name(w.On)))
	}
	for _, r := range s.answer.Refused {
		switch {
		case r.Missing > 0:
			note(r.Slot, " lacking "+several(int(r.Missing), "block"))
		case !slices.ContainsFunc(s.answer.Preempted, func(p blockmgr.Preempted) bool { return p.Slot == r.Slot }):
			note(r.Slot, " waiting for a turn")
		}
	}
	for _, line := range grouped(keys, func(k Key) string { return why[k] }) {
		s.tell("  %s", line)
	}
}

func (s *story) tellRow(row executor.Row) {
	q := s.core.bySlot[row.Slot]
	did := ""
	switch {
	case row.Count == 0:
		did = "is born of its parent"
	case row.Count == 1 && row.Start >= q.prompt:
		did = fmt.Sprintf("decodes at %d", row.Start)
	default:
		did = fmt.Sprintf("computes %d-%d of %d", row.Start, row.Start+row.Count-1, len(q.ids))
	}
	for _, g := range s.answer.Grants {
		if executor.Slot(g.Slot) != row.Slot {
			continue
		}
		if g.Matched > 0 {
			did += fmt.Sprintf(", %d found", g.Matched)
		}
		for _, a := range g.New {
			did += ", blocks " + ranges(a.Blocks)
		}
	}
	s.tell("  %d %s", q.key, did)
}

// tellTokens says what the last result brought.
func (s *story) tellTokens() {
	var keys []Key
	for _, it := range s.tokens.Items {
		if len(it.IDs)+len(it.Prompt) > 0 || it.Finish != Running {
			keys = append(keys, it.Key)
		}
	}
	each := grouped(keys, func(k Key) string {
		o := s.all[k]
		text := fmt.Sprintf(" with %d", len(o.got))
		if o.end != Running {
			text = fmt.Sprintf(" ends with %d (%s)", len(o.got), o.how())
		}
		if len(o.scores) > 0 {
			text += fmt.Sprintf(", %d of its prompt told", len(o.told))
		}
		return text
	})
	if each == nil {
		each = []string{"no token"}
	}
	s.tell("step %d is done: %s", s.tokens.Step, strings.Join(each, ", "))
}

// tellCommit says what has become of whom, if the commit is in force.
func (s *story) tellCommit() {
	if len(s.core.commits) > 0 {
		s.tell("epoch %d waits for a plan", s.serving.Epoch)
		return
	}
	s.tell("epoch %d: %s", s.serving.Epoch, strings.Join(s.everybody(), ", "))
}

// tell says which weights computed the cache.
func (c *claims) tell() (text string) {
	for i, r := range c.runs {
		if i == 0 {
			text = fmt.Sprintf(", cache of epoch %d", r.Epoch)
		} else {
			text += fmt.Sprintf(", from %d on of %d", r.Start, r.Epoch)
		}
	}
	return text
}

// tellState says where every sequence is that has not ended.
func (s *story) tellState() {
	s.tell("after step %d: %s", s.core.Step(), strings.Join(append(s.everybody(), "room for "+several(s.core.free, "block")), ", "))
}

// everybody says who runs, with how many tokens, and who waits.
func (s *story) everybody() []string {
	return grouped(slices.Sorted(maps.Keys(s.core.byKey)), func(k Key) string {
		if s.core.byKey[k].state == started {
			return fmt.Sprintf(" with %d", len(s.all[k].got))
		}
		return " waiting"
	})
}

// tellTables says who holds which blocks.
func (s *story) tellTables() {
	for _, slot := range slices.Sorted(maps.Keys(s.ledger.tables)) {
		s.tell("%d holds %s", s.name(slot), ranges(s.ledger.tables[slot]))
	}
	s.tell("room for %s", several(s.core.free, "block"))
}

// tellEnds says how every sequence ended, and what all cost.
func (s *story) tellEnds() {
	for _, line := range grouped(slices.Sorted(maps.Keys(s.all)), func(k Key) string {
		o := s.all[k]
		text := fmt.Sprintf(": %s, %s, %d computed", several(len(o.got), "token"), o.how(), o.computed)
		if len(o.told) > 0 {
			text += fmt.Sprintf(", %d of its prompt told", len(o.told))
		}
		if o.claims.mixed() {
			text += o.claims.tell()
		}
		if o.cached > 0 {
			text += fmt.Sprintf(", %d found", o.cached)
		}
		if o.preempted > 0 {
			text += ", given up " + several(int(o.preempted), "time")
		}
		return text
	}) {
		s.tell("%s", line)
	}
	s.tell("%s, %s computed, all given back", several(int(s.core.Step()), "step"), several(int(s.computed()), "token"))
}

// grouped says of each key what there is to say, of neighbours of whom it is the
// same in one.
func grouped(keys []Key, say func(Key) string) (lines []string) {
	for i := 0; i < len(keys); {
		text, j := say(keys[i]), i+1
		for j < len(keys) && keys[j] == keys[j-1]+1 && say(keys[j]) == text {
			j++
		}
		who := fmt.Sprint(keys[i])
		if j > i+1 {
			who = fmt.Sprintf("%d-%d", keys[i], keys[j-1])
		}
		lines = append(lines, who+text)
		i = j
	}
	return lines
}

func (o *outcome) how() string {
	if o.dropped != "" {
		return o.dropped
	}
	return map[Finish]string{Running: "running", Stop: "stop", Length: "length", Failed: "failed", Aborted: "aborted", Stale: "stale"}[o.end]
}

// name is the key of who holds a slot.
func (s *story) name(slot int32) Key { return s.core.bySlot[slot].key }

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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
