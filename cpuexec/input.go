package cpuexec

import "github.com/cbactor/cbactor/cpuexec/kernels"

// input is rows that a matrix is multiplied with: as numbers, and packed for the formats
// that take them so.
type input struct {
	x      []float32 // [row][width]
	width  int
	packed []byte // of kernels.Quantise or kernels.QuantiseC8
	late   bool   // what computes x does not pack it: finish does
}

// rowPacking says how activations are packed.
type rowPacking uint8

const (
	packNot    rowPacking = iota
	packBlocks            // with a scale for each 32 numbers of a row
	packGroups            // with one for each 256, as C8 wants
)

// packs follows from Compute and Quantize.
func (c *Config) packs() rowPacking {
	switch {
	case c.Compute != ComputeInt8:
		return packNot
	case c.Quantize == QuantizeColumn:
		return packGroups
	}
	return packBlocks
}

// bytes is the size of so many rows, packed.
func (p rowPacking) bytes(rows, width int) int {
	switch p {
	case packBlocks:
		return kernels.PackedBytes(rows, kernels.Blocks(width))
	case packGroups:
		return kernels.C8Bytes(rows, kernels.Blocks(width))
	}
	return 0
}

// inputBytes is what cutInput takes.
func inputBytes(p rowPacking, rows, width int) int64 {
	return lines(rows*width) + lineBytes(int64(p.bytes(rows, width)))
}

// cutInput takes the memory of so many rows.
func cutInput(a *area, p rowPacking, rows, width int) input {
	return input{x: cut[float32](a, rows*width), width: width, packed: cut[byte](a, p.bytes(rows, width))}
}

// view is row and all behind it.
func (in *input) view(row int, p rowPacking) input {
	return input{x: in.x[row*in.width:], width: in.width, packed: in.packed[p.bytes(row, in.width):], late: in.late}
}

// quantise packs whole rows, which begin at one.
func (s *step) quantise(in *input, row, rows int) {
	x, blocks := in.x[row*in.width:], kernels.Blocks(in.width)
	switch s.packs {
	case packBlocks:
		s.kernels.Quantise(x, in.packed, row, rows, 0, blocks, blocks, in.width)
	case packGroups:
		s.kernels.QuantiseC8(x, in.packed, row, rows, blocks, in.width)
	}
}

// quantisePart packs columns from first on, n of them, of rows, by whoever has computed
// them: with a scale for each 32 numbers nobody else's are needed.
func (s *step) quantisePart(in *input, row, rows, first, n int) {
	if s.packs != packBlocks || in.late {
		return
	}
	x, blocks := in.x[row*in.width+first:], kernels.Blocks(in.width)
	s.kernels.Quantise(x, in.packed, row, rows, first/kernels.Block, n/kernels.Block, blocks, in.width)
}

// finish packs what was not packed when it was computed, this thread's share of it, and
// waits for the others. A single row each thread packs for itself.
func (s *step) finish(id int, in *input) *input {
	if !in.late {
		return in
	}
	if len(s.tokens) == 1 {
		own := &s.workers[id].own
		own.x, own.width = in.x, in.width
		s.quantise(own, 0, 1)
		s.clock.mark(id, OpQuantise)
		return own
	}
	s.quantiseAll(id, in, len(s.tokens))
	return in
}

// quantiseAll packs so many rows, this thread's share of them, and waits for the others.
func (s *step) quantiseAll(id int, in *input, rows int) {
	if lo, hi := share(rows, id, s.threads); lo < hi { // there may be fewer rows than threads
		s.quantise(in, lo, hi-lo)
	}
	s.sync(id, OpQuantise)
}
