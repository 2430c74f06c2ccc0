package kernels

import (
	"encoding/binary"
	"math"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/sampling"
)

// Drawn stands for a row of the draws of a step.
type Drawn struct {
	*sampling.Params
	Key    sampling.Key
	Slot   int32 // where the sequence has its history and its edits
	Prompt int32 // how many of its ids are prompt
}

// DrawBytes is what a row's record of Draw takes.
const DrawBytes = 80

// Put writes the record of a row: Drawing of the source.
func (d *Drawn) Put(record []byte) {
	p := d.Params
	ends, tell := int32(0), int32(-1)
	if d.Key.Position-d.Prompt < p.MinNew {
		ends = int32(len(p.Ends))
	}
	if p.Tell.Logprobs {
		tell = p.Tell.Top
	}
	repetition, noted := p.RepetitionPenalty, int32(0)
	if repetition == 1 { // as if there were none
		repetition = 0
	}
	if p.Remembers() {
		noted = 1
	}
	le, bits := binary.LittleEndian, math.Float32bits
	le.PutUint64(record, d.Key.Seed)
	for i, x := range [...]uint32{
		uint32(d.Key.Child), uint32(d.Key.Position), bits(p.Temperature), bits(p.TopP), bits(p.MinP), bits(p.TypicalP), uint32(p.TopK),
		bits(repetition), bits(p.PresencePenalty), bits(p.FrequencyPenalty), uint32(p.NoRepeatNgram),
		uint32(d.Slot), uint32(d.Prompt), uint32(noted),
		uint32(len(p.Bias)), uint32(len(p.BadWords)), uint32(ends), uint32(tell),
	} {
		le.PutUint32(record[8+4*i:], x)
	}
}

// Plain tells that the token of a row is always that of the largest logit, of which nothing is told: Best draws it
// as well.
func Plain(p *sampling.Params) bool {
	return p.Greedy() && !p.Tell.Logprobs && !p.Processes(sampling.History{})
}

// Draws tells that Draw knows all of p, as a sampling.Sampler does: but for Allowed, a Processor, Tell.Kept, more
// than MaxTold of the most likely, and edits that take more than EditInts.
func Draws(p *sampling.Params) bool {
	return len(p.Allowed) == 0 && p.Processor == nil && !p.Tell.Kept && (!p.Tell.Logprobs || p.Tell.Top <= MaxTold) && edits(p) <= EditInts
}

// EditInts is how many int32 the edits of a sequence may take: its biases, banned words and ends.
const EditInts = 1024

// edits is how many those of p take.
func edits(p *sampling.Params) int {
	n := 2 * len(p.Bias)
	for _, word := range p.BadWords {
		n += 1 + len(word)
	}
	if p.MinNew > 0 {
		n += len(p.Ends)
	}
	return n
}

// Edits appends those of p to list: pairs of id and bias, words, each its length and its ids, and ends.
func Edits(list []int32, p *sampling.Params) []int32 {
	for _, b := range p.Bias {
		list = append(list, b.ID, int32(math.Float32bits(b.Value)))
	}
	for _, word := range p.BadWords {
		list = append(append(list, int32(len(word))), word...)
	}
	if p.MinNew > 0 {
		list = append(list, p.Ends...)
	}
	return list
}

// DrawScratch is how many bytes so many blocks need for rows of n logits.
func DrawScratch(blocks, n int) int { return 2 * ScoreScratch(blocks, n) }

// Drawing is where Draw finds what it needs.
type Drawing struct {
	IDs     cuda.Pointer // i32 [m]: the tokens. Unusable, or less where the row's edits and penalties have made it so
	Logits  cuda.Pointer // f32 [m][n]
	Records cuda.Pointer // [m], DrawBytes each
	Scratch cuda.Pointer // DrawScratch of the blocks
	History cuda.Pointer // i32 [slot][Context]: ids of sequences that need them, to which the tokens are added
	Edits   cuda.Pointer // i32 [slot][EditInts]
	Told    cuda.Pointer // [m], ToldBytes each, for rows that tell
	Context int
}

// Unusable is in the place of a token of a row that is not.
const Unusable = -1

// Draw draws a token for each of m rows, the one that a sampling.Sampler draws, by blocks each of which does a
// row after another.
func (s *Set) Draw(stream *cuda.Stream, d *Drawing, m, n, blocks int) error {
	return s.rows(stream, draw, min(m, blocks), cuda.Address(d.IDs), cuda.Address(d.Logits), cuda.Address(d.Records),
		cuda.Address(d.Scratch), cuda.Address(d.History), cuda.Address(d.Edits), cuda.Address(d.Told), cuda.Int(m), cuda.Int(n), cuda.Int(d.Context))
}
