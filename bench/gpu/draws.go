package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/sampling"
)

// drawBlocks is by how many blocks of threads tokens are drawn: the executor's.
const drawBlocks = 64

// draws measures the choice of the most likely token, and a draw by temperature, top-k and top-p.
func (b *bench) draws(t int) error {
	n := b.m.Vocab
	params := sampling.Params{Temperature: 1, TopK: 50, TopP: 0.9}
	records := make([]byte, t*kernels.DrawBytes)
	for i := range t {
		d := kernels.Drawn{Params: &params, Key: sampling.Key{Seed: uint64(i)}}
		d.Put(records[i*kernels.DrawBytes:])
	}
	d := kernels.Drawing{IDs: b.room(4 * t), Logits: b.logits(t * n), Records: b.room(len(records)), Scratch: b.room(kernels.DrawScratch(drawBlocks, n))}
	if b.err == nil {
		b.err = b.stream.CopyIn(d.Records, records)
	}
	for _, kernel := range []struct {
		name   string
		launch func(int) error
	}{
		{"best", func(int) error { return b.set.Best(b.stream, d.IDs, d.Logits, t, n) }},
		{"draw", func(int) error { return b.set.Draw(b.stream, &d, t, n, drawBlocks) }},
	} {
		took, err := b.time(kernel.launch)
		if err != nil {
			return fmt.Errorf("%s of %d: %w", kernel.name, t, err)
		}
		b.note(kernel.name, t, took, float64(4*t*n), 0)
	}
	return b.give(d.IDs, d.Logits, d.Records, d.Scratch)
}

// logits are n numbers of float32.
func (b *bench) logits(n int) cuda.Pointer {
	random, data := rand.New(rand.NewPCG(3, 4)), make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(3*random.NormFloat64())))
	}
	p := b.room(len(data))
	if b.err == nil {
		b.err = b.stream.CopyIn(p, data)
	}
	return p
}
