package gpuexec

import (
	"runtime"
	"unsafe"

	"github.com/cbactor/cbactor/executor"
)

// finish waits for a step, draws what the host draws, and fills in the rows of r.
func (e *Executor) finish(s *step, r *executor.Result) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := e.ctx.Bind(); err != nil {
		return err
	}
	for at := 0; at < len(s.samples); at += hostRows {
		if err := e.drawSome(s, at, min(at+hostRows, len(s.samples)), r); err != nil {
			return err
		}
	}
	if err := s.done.Synchronize(); err != nil {
		return err
	}
	if err := e.watch.stop(s); err != nil {
		return err
	}
	e.state.Lock()
	defer e.state.Unlock()
	e.take(s, r)
	for i := range r.Rows {
		if err := e.slots[r.Rows[i].Slot].err; err != nil {
			r.Rows[i].Fail(err)
		}
	}
	return nil
}

// drawSome draws from or scores samples of a step, from one to before the other, by their logits on the
// host. No other step is launched meanwhile. A sequence that has failed draws no more.
func (e *Executor) drawSome(s *step, from, to int, r *executor.Result) error {
	some := s.samples[from:to]
	l := launching{Executor: e, s: s}
	l.headLogits(from, to)
	if l.err != nil {
		return l.err
	}
	vocab := e.config.Model.Vocab
	if err := e.compute.CopyOut(bytesOf(e.logits[:len(some)*vocab]), e.work.logits); err != nil {
		return err
	}
	if err := e.compute.Synchronize(); err != nil {
		return err
	}
	for i := range some {
		m := &some[i]
		logits := e.logits[i*vocab:][:vocab]
		if e.config.KeepLogits != nil && !m.score {
			e.config.KeepLogits(int(m.number), m.pos-1, logits)
		}
		if e.slots[m.number].err == nil {
			if err := e.draw(s, m, r, logits); err != nil {
				e.fail(m, err)
			}
		}
	}
	return nil
}

// draw uses the logits of m.
func (e *Executor) draw(s *step, m *sample, r *executor.Result, logits []float32) error {
	q, out := &e.slots[m.number], e.record(s, m, r)
	if m.score {
		return e.sampler.Score(logits, q.ids[m.pos], q.sampling.Tell.Top, out)
	}
	err := e.sampler.Sample(logits, &q.sampling, q.history(), q.key(m.pos), out)
	if err == nil {
		e.give(m, r, out.ID)
	}
	return err
}

// give gives a sequence its token.
func (e *Executor) give(m *sample, r *executor.Result, id int32) {
	q := &e.slots[m.number]
	if q.err == nil {
		q.ids = append(q.ids, id)
		r.Rows[m.row].Tokens = append(r.Rows[m.row].Tokens, id)
	}
}

// fail lets a sequence have no more tokens.
func (e *Executor) fail(m *sample, err error) {
	if q := &e.slots[m.number]; q.err == nil {
		q.err = err
	}
}

// bytesOf is the memory of numbers.
func bytesOf[T int32 | float32](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), 4*len(numbers))
}
