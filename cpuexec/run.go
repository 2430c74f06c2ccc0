package cpuexec

import "github.com/cbactor/cbactor/executor"

// run does a Batch and fills in the rows of r.
func (s *step) run(b *executor.Batch, r *executor.Result) error {
	for i := range b.Admit {
		s.slots[b.Admit[i].Slot].admit(&b.Admit[i])
	}
	for _, d := range b.Tables {
		copy(s.slots[d.Slot].table[d.Index:], d.Blocks)
	}
	s.open += len(b.Admit) - len(b.Retire)
	s.pool.SetBusy(s.open > 0)
	if err := s.copyBlocks(b.Copies); err != nil {
		return err
	}
	s.lay(b)
	if err := s.computeAll(); err != nil {
		return err
	}
	s.answer(b, r)
	return nil
}

// computeAll computes the tokens.
func (s *step) computeAll() error {
	if len(s.tokens) == 0 {
		return nil
	}
	return s.runOn(len(s.tokens)*s.weights.count(), s.compute)
}

// runOn calls fn on all threads, or on one if the work, counted in products, is
// little.
func (s *step) runOn(products int, fn func(id int)) error {
	if products <= s.alone {
		s.threads = 1
		return s.pool.RunAlone(fn)
	}
	s.threads = len(s.workers)
	return s.pool.Run(fn)
}

// lay turns rows into tokens and samples. A row of a sequence that has failed is
// left out; a fork of one fails with it.
func (s *step) lay(b *executor.Batch) {
	s.tokens, s.samples = s.tokens[:0], s.samples[:0]
	for i := range s.nextHead {
		s.nextHead[i].Store(0)
	}
	for i := range b.Rows {
		row := &b.Rows[i]
		q := &s.slots[row.Slot]
		if q.err != nil || row.Count == 0 {
			continue
		}
		for p := int(row.Start); p < int(row.Start+row.Count); p++ {
			s.tokens = append(s.tokens, token{slot: q, id: q.ids[p], pos: p})
		}
		if row.Sample {
			s.samples = append(s.samples, sample{row: i, slot: q, number: row.Slot, from: len(s.tokens) - 1, pos: int(row.Start + row.Count)})
		}
	}
	for i := range b.Rows {
		if row := &b.Rows[i]; row.Count == 0 {
			s.layFork(i, row)
		}
	}
}

// layFork lets a fork sample from its parent's last token.
func (s *step) layFork(i int, row *executor.Row) {
	q := &s.slots[row.Slot]
	parent := &s.slots[q.parent]
	if q.err = parent.err; q.err != nil {
		return
	}
	pos := int(row.Start)
	for t := range s.tokens {
		if s.tokens[t].slot == parent && s.tokens[t].pos == pos-1 {
			s.samples = append(s.samples, sample{row: i, slot: q, number: row.Slot, from: t, pos: pos})
		}
	}
}

// answer writes the rows of the result and gives the sequences their tokens.
func (s *step) answer(b *executor.Batch, r *executor.Result) {
	for i := range b.Rows {
		row := &b.Rows[i]
		r.Add(row.Slot).Err = s.slots[row.Slot].err
		r.Tokens += row.Count
	}
	for i := range s.samples {
		m := &s.samples[i]
		q, out := &s.slots[b.Rows[m.row].Slot], &r.Rows[m.row]
		if m.err != nil {
			q.err, out.Err = m.err, m.err
			continue
		}
		q.ids = append(q.ids, m.token)
		out.Tokens = append(out.Tokens, m.token)
	}
}
