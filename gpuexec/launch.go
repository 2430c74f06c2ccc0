package gpuexec

import "github.com/cbactor/cbactor/cuda/kernels"

// launch enqueues all of a step that needs no answer of the device.
func (e *Executor) launch(s *step) error {
	e.lay(s)
	s.weights = e.weightsOf(s.batch.Epoch)
	if err := e.send(s); err != nil {
		return err
	}
	if err := e.watch.begin(s, e.compute); err != nil {
		return err
	}
	if err := e.patch(s); err != nil {
		return err
	}
	if err := e.copyBlocks(s.batch.Copies); err != nil {
		return err
	}
	if err := e.run(s); err != nil {
		return err
	}
	return e.fetch(s)
}

// run enqueues a step's kernels: as a graph, or one by one, and behind them those of scores, which no graph has.
func (e *Executor) run(s *step) error {
	if s.tokens == 0 {
		return nil
	}
	enqueue := e.enqueue
	if s.graphed {
		enqueue = e.replay
	}
	if err := enqueue(s); err != nil {
		return err
	}
	l := launching{Executor: e, s: s}
	l.headScores()
	return l.err
}

// enqueue enqueues a step's kernels one by one.
func (e *Executor) enqueue(s *step) error {
	l := launching{Executor: e, s: s}
	l.layers()
	l.headDraws()
	return l.err
}

// send copies a step's input to the device, for which its kernels wait.
func (e *Executor) send(s *step) error {
	if err := e.remember(s.batch.Admit); err != nil {
		return err
	}
	base := e.work.inputs[s.number]
	sent, n, err := e.input.pack(s.memory, base)
	if err != nil || n == 0 {
		return err
	}
	s.sent = sent
	if err := e.in.CopyIn(base, s.memory[:n]); err != nil {
		return err
	}
	if err := e.in.Record(s.arrived); err != nil {
		return err
	}
	return e.compute.Wait(s.arrived)
}

// patch changes the block tables as a step's input says.
func (e *Executor) patch(s *step) error {
	for g, pairs := range e.input.changes {
		if len(pairs) > 0 {
			if err := e.kernels.Patch(e.compute, e.work.tables[g], s.sent.changes[g], len(pairs)/2); err != nil {
				return err
			}
		}
	}
	return nil
}

// fetch copies what the device draws to the host.
func (e *Executor) fetch(s *step) error {
	if err := e.watch.end(s, e.compute); err != nil {
		return err
	}
	if err := e.compute.Record(s.computed); err != nil {
		return err
	}
	if err := e.out.Wait(s.computed); err != nil {
		return err
	}
	draws, scores := len(s.draws), len(s.scores)
	if draws > 0 {
		if err := e.out.CopyOut(bytesOf(s.ids[:draws]), e.work.drawn[s.number]); err != nil {
			return err
		}
	}
	if s.tells {
		if err := e.out.CopyOut(s.told[:kernels.ToldBytes*draws], e.work.told[s.number]); err != nil {
			return err
		}
	}
	if scores > 0 {
		if err := e.out.CopyOut(e.scoreRecords(s)[:kernels.ToldBytes*scores], e.scoresTold(s)); err != nil {
			return err
		}
	}
	return e.out.Record(s.done)
}
