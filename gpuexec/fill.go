package gpuexec

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// source is rows of a stored matrix, or numbers of a stored vector, one for each output of a linear
// layer.
type source struct {
	model.Rows
	n int
}

// rowsOf is how many outputs sources have together.
func rowsOf(from []source) (n int) {
	for i := range from {
		n += from[i].n
	}
	return n
}

// rowOf is the row in which output j of source i lies: those of one source behind those of the other,
// but of two, which are gate and up and multiplied in pairs, in turn.
func rowOf(from []source, i, j int) int {
	if len(from) == 2 {
		return 2*j + i
	}
	return rowsOf(from[:i]) + j
}

// located is which output of which source lies in a row.
func located(from []source, row int) (*source, int) {
	if len(from) == 2 {
		return &from[row%2], row / 2
	}
	i := 0
	for row >= from[i].n {
		row -= from[i].n
		i++
	}
	return &from[i], row
}

// fill is what a part of the parameters is made of: rows of a matrix, each padded with zeros, or
// the numbers of a vector.
type fill struct {
	at        cuda.Pointer
	in, width int            // of a row, stored and padded; 0: a vector
	float     bool           // in f32
	format    kernels.Format // else
	from      []source
	add       float32 // to each number of a vector
}

// pieces is how many there are to make: of a matrix a row or, where they lie together, a panel. A vector
// is one.
func (f *fill) pieces() int {
	if f.width == 0 {
		return 1
	}
	height := f.format.Height()
	return (rowsOf(f.from) + height - 1) / height
}

// pieceBytes is the size of each.
func (f *fill) pieceBytes() int {
	switch {
	case f.width == 0:
		return 4 * rowsOf(f.from)
	case f.float:
		return 4 * f.width
	}
	return f.format.PanelBytes(f.width)
}

// filler makes the pieces of fills out of a set.
type filler struct {
	set     *weights.Set
	numbers []float32 // a stored row
}

// piece writes piece i of f to dst.
func (w *filler) piece(f *fill, dst []byte, i int) {
	switch {
	case f.width == 0:
		w.vector(f, dst)
	case f.format != kernels.BF16:
		w.panel(f, dst, i)
	default:
		w.row(f, dst, i)
	}
}

// row writes row i of f, of floats.
func (w *filler) row(f *fill, dst []byte, i int) {
	t, row := w.stored(f, i)
	if t.DType == model.BF16 && !t.Turned && !f.float {
		clear(dst[copy(dst, t.Data[2*f.in*row:][:2*f.in]):])
		return
	}
	numbers := w.read(&t, f.in, row)
	if f.float {
		clear(dst[putF32(dst, numbers):])
	} else {
		clear(dst[putBF16(dst, numbers):])
	}
}

// stored is which row of which tensor row i of f is.
func (w *filler) stored(f *fill, i int) (weights.Tensor, int) {
	s, output := located(f.from, i)
	t := w.tensor(s)
	return t, s.Expert*matrixRows(&t) + s.First + output*s.Step
}

// vector writes all numbers of f.
func (w *filler) vector(f *fill, dst []byte) {
	for i := range f.from {
		s := &f.from[i]
		t := w.tensor(s)
		numbers := w.read(&t, t.Shape[len(t.Shape)-1], s.Expert)
		for j := range s.n {
			putF32(dst[4*rowOf(f.from, i, j):], []float32{numbers[s.First+j*s.Step] + f.add})
		}
	}
}

// tensor is the one of a source, which checkSet has seen.
func (w *filler) tensor(s *source) weights.Tensor {
	t, _ := w.set.Tensor(s.Tensor)
	t.Turned = t.Transposed()
	return t
}

// read is a row of n numbers.
func (w *filler) read(t *weights.Tensor, n, row int) []float32 {
	w.numbers = slices.Grow(w.numbers[:0], n)[:n]
	t.Row(w.numbers, row)
	return w.numbers
}

// matrixRows is how many rows a matrix of a tensor has: outputs, whichever way it is stored.
func matrixRows(t *weights.Tensor) int {
	last := len(t.Shape) - 1
	if t.Turned {
		return t.Shape[last]
	}
	return t.Shape[last-1]
}

// putF32 and putBF16 write numbers as a device has them, and answer how many bytes they took.
func putF32(dst []byte, numbers []float32) int {
	for i, x := range numbers {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(x))
	}
	return 4 * len(numbers)
}

func putBF16(dst []byte, numbers []float32) int {
	for i, x := range numbers {
		binary.LittleEndian.PutUint16(dst[2*i:], model.ToBF16(x))
	}
	return 2 * len(numbers)
}
