package gpuexec

import (
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
)

// sample is a use of the logits after a token: to draw the next id, or to score the one that the
// prompt has there.
type sample struct {
	row    int // of the Batch
	number executor.Slot
	pos    int  // of the id behind it
	score  bool // of the prompt
	nth    int  // of the scores of its row
}

// lay turns the rows of a step into tokens and samples. A row of a sequence that has failed is left
// out; a fork of one fails with it.
func (e *Executor) lay(s *step) {
	e.state.Lock()
	defer e.state.Unlock()
	e.input.reset()
	s.samples, s.scores, s.draws, s.greedy, s.tells = s.samples[:0], s.scores[:0], s.draws[:0], true, false
	longest := 0 // context
	b := s.batch
	for i := range b.Admit {
		e.slots[b.Admit[i].Slot].admit(&b.Admit[i], e.adapters.find(b.Admit[i].Adapter), e.config.KeepLogits == nil)
	}
	for i := range b.Tables {
		e.input.change(&b.Tables[i], pages(e.config.MaxContext, e.config.PageSize))
	}
	e.order = executor.SideBySide(e.order, b.Rows, func(n executor.Slot) int { return e.slots[n].place() })
	for _, i := range e.order {
		if row := &b.Rows[i]; row.Count > 0 {
			e.layRow(s, int(i), row)
			longest = max(longest, int(row.Start+row.Count))
		}
	}
	for i := range b.Rows {
		if row := &b.Rows[i]; row.Count == 0 {
			e.layFork(s, i, row)
		}
	}
	s.tokens, s.items, s.segments = len(e.input.ids), len(e.input.items)/2, 1
	if s.tokens <= splitTokens {
		s.segments = max(1, pages(longest, kernels.Segment))
	}
	s.joints, s.loras = e.input.joints, len(e.input.loras)/kernels.LoraItem
	e.pad(s)
}

// layRow lays out row i of s.
func (e *Executor) layRow(s *step, i int, row *executor.Row) {
	q := &e.slots[row.Slot]
	if q.err != nil {
		return
	}
	end := int(row.Start + row.Count)
	first := len(e.input.ids)
	for p := int(row.Start); p < end; p++ {
		id := int32(-1 - row.Slot)
		if p < len(q.ids) {
			id = q.ids[p]
		}
		e.input.token(id, p, row.Slot)
	}
	e.input.attend(first, int(row.Count))
	if q.adapter != nil {
		e.input.adapt(q.adapter, first, int(row.Count))
	}
	q.token = len(e.input.ids) - 1
	if row.PromptLogprobs {
		for j := range row.PromptScores(q.prompt) {
			e.layScore(s, sample{row: i, number: row.Slot, pos: int(row.Start) + j + 1, score: true, nth: j}, first+j)
		}
	}
	if row.Sample {
		e.laySample(s, i, row, q.token)
	}
}

// layFork lets a fork sample from its parent's last token.
func (e *Executor) layFork(s *step, i int, row *executor.Row) {
	q := &e.slots[row.Slot]
	parent := &e.slots[q.parent]
	if parent.err != nil {
		q.err = parent.err
		return
	}
	e.laySample(s, i, row, parent.token)
}

// layScore scores the id of a prompt behind a token.
func (e *Executor) layScore(s *step, m sample, token int) {
	q := &e.slots[m.number]
	if top := q.sampling.Tell.Top; e.config.KeepLogits == nil && top <= kernels.MaxTold {
		e.input.score(token, q.ids[m.pos], top)
		s.scores = append(s.scores, m)
		return
	}
	e.layRead(s, m, token)
}

// layRead lets the host use the logits after a token.
func (e *Executor) layRead(s *step, m sample, token int) {
	s.samples = append(s.samples, m)
	e.input.read = append(e.input.read, int32(token))
}

// laySample lets row i sample from the logits after a token.
func (e *Executor) laySample(s *step, i int, row *executor.Row, token int) {
	m := sample{row: i, number: row.Slot, pos: int(row.Start + row.Count)}
	q := &e.slots[row.Slot]
	if !q.onDevice {
		e.layRead(s, m, token)
		return
	}
	d := kernels.Drawn{Params: &q.sampling, Key: q.key(m.pos), Slot: int32(row.Slot), Prompt: q.prompt}
	e.input.draw(token, &d)
	s.draws = append(s.draws, m)
	s.greedy, s.tells = s.greedy && kernels.Plain(&q.sampling), s.tells || q.sampling.Tell.Logprobs
}
