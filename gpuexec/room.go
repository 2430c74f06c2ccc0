package gpuexec

import (
	"fmt"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/executor"
)

// room is a piece of the device's memory that can be given back and taken again. Its methods are
// called on a thread that the context is bound to.
type room struct {
	ctx  *cuda.Context
	what string
	size int64
	at   cuda.Pointer // 0: it is given back
}

// take takes the memory, unless it is there.
func (r *room) take() error {
	if r.at != 0 || r.size == 0 {
		return nil
	}
	at, err := r.ctx.Alloc(int(r.size))
	if err != nil {
		return lacking(r.what, r.size, err)
	}
	r.at = at
	return nil
}

// free gives it back.
func (r *room) free() error {
	if r.at == 0 {
		return nil
	}
	at := r.at
	r.at = 0
	return r.ctx.Free(at)
}

// pinned is a piece of the host's memory that the device reads and writes.
type pinned struct {
	ctx  *cuda.Context
	what string
	size int64
	mem  []byte // nil: it is given back
}

func (p *pinned) take() error {
	if p.mem != nil || p.size == 0 {
		return nil
	}
	mem, err := p.ctx.AllocHost(int(p.size))
	if err != nil {
		return lacking(p.what, p.size, err)
	}
	p.mem = mem
	return nil
}

func (p *pinned) free() error {
	if p.mem == nil {
		return nil
	}
	mem := p.mem
	p.mem = nil
	return p.ctx.FreeHost(mem)
}

// lacking says for what there is no memory.
func lacking(what string, size int64, err error) error {
	return fmt.Errorf("%w: %d bytes for %s: %w", executor.ErrMemory, size, what, err)
}
