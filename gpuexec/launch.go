package gpuexec

import (
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/executor"
)

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
	if err := e.copyBlocks(s.batch.Copies); err != nil {
		return err
	}
	if err := e.run(s); err != nil {
		return err
	}
	return e.fetch(s)
}

// run enqueues a step's kernels: as a graph, or one by one.
func (e *Executor) run(s *step) error {
	switch {
	case s.tokens == 0:
		return nil
	case s.graphed:
		return e.replay(s)
	}
	l := launching{Executor: e, s: s}
	l.layers()
	l.headDraws()
	return l.err
}

// send copies a step's input to the device and changes the block tables.
func (e *Executor) send(s *step) error {
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
	if err := e.compute.Wait(s.arrived); err != nil {
		return err
	}
	for g, pairs := range e.input.changes {
		if len(pairs) > 0 {
			if err := e.kernels.Patch(e.compute, e.work.tables[g], sent.changes[g], len(pairs)/2); err != nil {
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
	if n := len(s.draws); n > 0 {
		if err := e.out.CopyOut(bytesOf(s.ids[:n]), e.work.drawn[s.number]); err != nil {
			return err
		}
	}
	return e.out.Record(s.done)
}

// copyBlocks runs the copies of a Batch, in their order.
func (e *Executor) copyBlocks(copies []executor.Copy) error {
	for i := range copies {
		p := &copies[i]
		g := &e.layout.groups[p.Group]
		device := func(block int32) cuda.Pointer { return e.pool.at + cuda.Pointer(int64(block)*int64(g.block)) }
		host := func(block int32) []byte { return e.host.mem[g.host+int64(block)*int64(g.block):][:g.block] }
		var err error
		switch p.Kind {
		case executor.CopyOut:
			err = e.compute.CopyOut(host(p.To), device(p.From))
		case executor.CopyIn:
			err = e.compute.CopyIn(device(p.To), host(p.From))
		default:
			err = e.compute.Copy(device(p.To), device(p.From), g.block)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
