package kernels

import (
	"encoding/binary"
	"math"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/sampling"
)

// MaxTold is of how many of the most likely tokens Draw and Score tell at most.
const MaxTold = 20

// ToldBytes is what a row's record of what is told takes: Told of the source.
const ToldBytes = toldHead + MaxTold*likelyBytes

const (
	toldHead    = 40
	likelyBytes = 12
)

// Told is such a record, on the host.
type Told []byte

func (t Told) int(at int) int32     { return int32(binary.LittleEndian.Uint32(t[at:])) }
func (t Told) float(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(t[at:])) }
func (t Told) double(at int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(t[at:]))
}

// ID is the token's; of Score below 0 where the row is not usable.
func (t Told) ID() int32 { return t.int(0) }

// Drawn fills in what a sampling.Sampler tells of a token that Draw has drawn by p.
func (t Told) Drawn(p *sampling.Params, out *sampling.Drawn) {
	temperature := p.Temperature
	if p.Greedy() {
		temperature = 1
	}
	raw, sampled := t.raw(), sampling.Softmax{Best: t.float(16), Temperature: temperature, LogTotal: math.Log(t.double(32))}
	t.fill(out, &raw, &sampled)
}

// Scored fills in what a sampling.Sampler tells of a token that Score has scored.
func (t Told) Scored(out *sampling.Drawn) {
	raw := t.raw()
	t.fill(out, &raw, nil)
}

func (t Told) raw() sampling.Softmax {
	return sampling.Softmax{Best: t.float(8), Temperature: 1, LogTotal: math.Log(t.double(24))}
}

// fill makes probabilities of the record's logits. Without a distribution to draw from, they are the model's.
func (t Told) fill(out *sampling.Drawn, raw, sampled *sampling.Softmax) {
	of := func(id int32, logit, changed float32) sampling.Logprob {
		p := raw.Logprob(logit)
		if sampled == nil {
			return sampling.Logprob{ID: id, Raw: p, Sampled: p}
		}
		return sampling.Logprob{ID: id, Raw: p, Sampled: sampled.Logprob(changed)}
	}
	out.Logprob, out.Top = of(t.ID(), t.float(12), t.float(20)), out.Top[:0]
	for i := range min(int(t.int(4)), MaxTold) {
		at := toldHead + i*likelyBytes
		out.Top = append(out.Top, of(t.int(at), t.float(at+4), t.float(at+8)))
	}
}

// ScoreBytes is what a row's record of Score takes.
const ScoreBytes = 8

// ScoreScratch is how many bytes so many blocks need for rows of n logits.
func ScoreScratch(blocks, n int) int { return 4 * blocks * ((n + 7) &^ 7) }

// Score tells of a token of each of m rows of logits [m][n], told [m] of ToldBytes: how likely it is, by the
// record of scored, i32 [m][2]: the token, and how many of the most likely are told of, MaxTold at most. scratch
// has ScoreScratch of the blocks, each of which does a row after another.
func (s *Set) Score(stream *cuda.Stream, told, logits, scored, scratch cuda.Pointer, m, n, blocks int) error {
	return s.rows(stream, score, min(m, blocks), cuda.Address(told), cuda.Address(logits), cuda.Address(scored), cuda.Address(scratch), cuda.Int(m), cuda.Int(n))
}
