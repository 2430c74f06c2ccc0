package cpuexec

import (
	"slices"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// dims are the model's sizes as the forward pass uses them. A width is a row's
// length in float32, padded to whole panels; the padding is always zero.
type dims struct {
	vocab, hidden, inter, layers int
	heads, kvHeads, headDim      int
	group                        int // query heads of a key head
	experts, perToken, expert    int // how many, of a token, the intermediate size of one; 0 where there are none
	stateLen                     int // floats of an attention state
	headFirst, headRows          int // outputs of the head that are computed here

	hiddenWidth, qkvWidth, attnWidth, interWidth, expertWidth, headWidth int
}

func dimsOf(m *model.Config) dims {
	d := dims{
		vocab: m.Vocab, hidden: m.Hidden, inter: m.Intermediate, layers: m.Layers,
		heads: m.Heads, kvHeads: m.KVHeads, headDim: m.HeadDim,
		group:       m.Heads / m.KVHeads,
		stateLen:    kernels.StateLen(m.HeadDim),
		hiddenWidth: padded(m.Hidden),
		qkvWidth:    padded((m.Heads + 2*m.KVHeads) * m.HeadDim),
		attnWidth:   padded(m.Heads * m.HeadDim),
		interWidth:  padded(m.Intermediate),
	}
	rank := 0
	if part := m.Part(); part != nil {
		rank = part.Rank
	}
	d.headFirst, d.headRows = m.HeadRows(rank)
	d.headWidth = padded(d.headRows)
	if m.MoE != nil {
		if !slices.Contains(m.MoE.Dense, true) {
			d.interWidth = 0 // no layer has an MLP of its own
		}
		d.experts, d.perToken, d.expert = m.MoE.Experts, m.MoE.PerToken, m.MoE.Intermediate
		d.expertWidth = padded(d.expert)
	}
	return d
}

// padded rounds up to whole panels.
func padded(n int) int { return (n + kernels.Panel - 1) / kernels.Panel * kernels.Panel }

// widest is the width of the widest row that a matrix of a layer takes.
func (d *dims) widest() int { return max(d.hiddenWidth, d.attnWidth, d.interWidth) }

// attnDim is the length of all query heads side by side.
func (d *dims) attnDim() int { return d.heads * d.headDim }
