package cpuexec

import (
	"time"

	"github.com/cbactor/cbactor/executor"
)

// run does a Batch and fills in the rows of r.
func (s *step) run(b *executor.Batch, r *executor.Result) error {
	for i := range b.Admit {
		s.slots[b.Admit[i].Slot].admit(&b.Admit[i], s.adapters.find(b.Admit[i].Adapter))
	}
	for _, d := range b.Tables {
		copy(s.slots[d.Slot].tables[d.Group][d.Index:], d.Blocks)
	}
	s.open += len(b.Admit) - len(b.Retire)
	s.pool.SetBusy(s.open > 0)
	if err := s.copyBlocks(b.Copies); err != nil {
		return err
	}
	s.lay(b, r)
	if err := s.computeAll(r); err != nil {
		return err
	}
	s.answer(r)
	s.note(b)
	return nil
}

// computeAll computes the tokens, and notes how long threads waited for each other.
func (s *step) computeAll(r *executor.Result) error {
	if len(s.tokens) == 0 {
		return nil
	}
	err := s.runOn(len(s.tokens)*int(s.weights.area.size), s.compute)
	r.LongestWait = s.pool.LongestWait().Nanoseconds()
	return err
}

// runOn calls fn on all threads, or on one if the work is little: as much as to multiply
// so many bytes of weights with a token.
func (s *step) runOn(bytes int, fn func(id int)) error {
	if bytes <= s.alone {
		s.threads = 1
		return s.pool.RunAlone(fn)
	}
	s.threads = len(s.workers)
	return s.pool.Run(fn)
}

// pack fills panels for a time, on the threads that computed the last step.
func (s *step) pack(p *packing, d time.Duration) error {
	s.panels, s.packTime = p, d
	defer func() { s.panels = nil }()
	if s.threads > 1 {
		return s.pool.Run(s.packPart)
	}
	return s.pool.RunAlone(s.packPart)
}

// packSome is a thread's part of pack.
func (s *step) packSome(id int) { s.panels.some(s.workers[id].tile, s.packTime) }
