package cpuexec

import (
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// lay turns rows into tokens and samples, and makes room for their outcomes in r. A
// row of a sequence that has failed is left out; a fork of one fails with it.
func (s *step) lay(b *executor.Batch, r *executor.Result) {
	s.tokens, s.samples, s.greedy, s.runs = s.tokens[:0], s.samples[:0], s.greedy[:0], s.runs[:0]
	for i := range s.nextHead {
		s.nextHead[i].Store(0)
	}
	for i := range b.Rows {
		r.Add(b.Rows[i].Slot)
		r.Tokens += b.Rows[i].Count
	}
	s.order = executor.SideBySide(s.order, b.Rows, func(n executor.Slot) int { return s.slots[n].place() })
	for _, i := range s.order {
		s.layRow(int(i), &b.Rows[i], &r.Rows[i])
	}
	s.laySpans()
	for i := range b.Rows {
		if b.Rows[i].Count == 0 {
			s.layFork(i, &b.Rows[i], &r.Rows[i])
		}
	}
	s.firstGreedy = len(s.samples)
	s.samples = append(s.samples, s.greedy...)
}

// layRow lays out row i, unless it is a fork's.
func (s *step) layRow(i int, row *executor.Row, out *executor.RowResult) {
	q := &s.slots[row.Slot]
	if q.err != nil {
		out.Fail(q.err)
		return
	}
	first := len(s.tokens)
	for p := int(row.Start); p < int(row.Start+row.Count); p++ {
		s.tokens = append(s.tokens, token{slot: q, id: q.ids[p], pos: p})
		s.extend(q.adapter)
	}
	if row.PromptLogprobs {
		out.Prompt = executor.Records(out.Prompt, row.PromptScores(q.prompt))
		for j := range out.Prompt {
			s.samples = append(s.samples, sample{row: i, slot: q, number: row.Slot, from: first + j, pos: int(row.Start) + j + 1, score: true, told: &out.Prompt[j]})
		}
	}
	if row.Sample && row.Count > 0 {
		s.laySample(i, row, len(s.tokens)-1, out)
	}
}

// layFork lets a fork sample from its parent's last token.
func (s *step) layFork(i int, row *executor.Row, out *executor.RowResult) {
	q := &s.slots[row.Slot]
	parent := &s.slots[q.parent]
	if parent.err != nil {
		q.err = parent.err
		out.Fail(q.err)
		return
	}
	for t := range s.tokens {
		if s.tokens[t].slot == parent && s.tokens[t].pos == int(row.Start)-1 {
			s.laySample(i, row, t, out)
		}
	}
}

// laySample lets row i sample from the logits after token from.
func (s *step) laySample(i int, row *executor.Row, from int, out *executor.RowResult) {
	q := &s.slots[row.Slot]
	var told *sampling.Drawn
	if executor.Tells(&q.sampling.Tell) {
		out.Drawn = executor.Records(out.Drawn, 1)
		told = &out.Drawn[0]
	}
	m := sample{row: i, slot: q, number: row.Slot, from: from, pos: int(row.Start + row.Count), told: told}
	if s.onlyLargest(&m) {
		s.greedy = append(s.greedy, m)
	} else {
		s.samples = append(s.samples, m)
	}
}

// answer fills in the rows of the result and gives the sequences their tokens. The
// scores of a row stand before its draw: one that failed fails both.
func (s *step) answer(r *executor.Result) {
	for i := range s.samples {
		m := &s.samples[i]
		q, out := m.slot, &r.Rows[m.row]
		if q.err == nil {
			q.err = m.err
		}
		switch {
		case q.err != nil:
			out.Fail(q.err)
		case !m.score:
			q.ids = append(q.ids, m.drawn.ID)
			out.Tokens = append(out.Tokens, m.drawn.ID)
		}
	}
}
