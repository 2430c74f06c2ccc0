package kernels

import (
	"encoding/binary"
	"math"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/sampling"
)

// DrawBytes is what a row's record of Draw takes.
const DrawBytes = 32

// PutDraw writes the record of a row that is drawn by p under a key: Draw of the source.
func PutDraw(record []byte, p *sampling.Params, key sampling.Key) {
	binary.LittleEndian.PutUint64(record, key.Seed)
	for i, x := range [...]uint32{
		uint32(key.Child), uint32(key.Position), math.Float32bits(p.Temperature), math.Float32bits(p.TopP),
		math.Float32bits(p.MinP), uint32(p.TopK),
	} {
		binary.LittleEndian.PutUint32(record[8+4*i:], x)
	}
}

// Draws tells that Draw knows all of p: temperature, top-k, top-p and min-p. What else p has
// needs a sampling.Sampler.
func Draws(p *sampling.Params) bool {
	return !p.Processes(sampling.History{}) && p.MinNew == 0 && (p.TypicalP == 0 || p.TypicalP == 1) && p.Tell == sampling.Tell{}
}

// DrawScratch is how many bytes so many blocks need for rows of n logits.
func DrawScratch(blocks, n int) int { return 4 * blocks * ((n + 7) &^ 7) }

// Draw draws a token for each of m rows of logits [m][n], by its record of draws, [m] times
// DrawBytes: the one that a sampling.Sampler draws. -1 where a row is not usable. scratch has
// DrawScratch of the blocks, each of which does a row after another.
func (s *Set) Draw(stream *cuda.Stream, ids, logits, draws, scratch cuda.Pointer, m, n, blocks int) error {
	return s.rows(stream, draw, min(m, blocks), cuda.Address(ids), cuda.Address(logits), cuda.Address(draws),
		cuda.Address(scratch), cuda.Int(m), cuda.Int(n))
}
