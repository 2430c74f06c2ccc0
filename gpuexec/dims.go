package gpuexec

import (
	"cmp"
	"math"

	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/model"
)

const (
	// mostHeadRows is how many rows go through the output head at a time: enough to pay for
	// reading it.
	mostHeadRows = 256
	// hostRows is how many rows of logits come to the host at a time.
	hostRows = 16
	// drawBlocks is by how many blocks of threads tokens are drawn that are not greedy.
	drawBlocks = 64
	// splitTokens is up to how many tokens of a step have their contexts shared by blocks of
	// threads: of more there are blocks enough.
	splitTokens = 8
)

// dims are the model's sizes as the forward pass uses them. A width is the length of a row that a
// product takes, padded.
type dims struct {
	*model.Config
	q, kv                                         int // heads side by side
	hiddenWidth, attnWidth, actWidth, expertWidth int
	perToken                                      int // experts of a token; 0: there are none
	rotary                                        int
	headRows                                      int // that go through the output head at a time
	segments                                      int // of the longest context
	qScale                                        float32
	adapters                                      adapterLayout
}

func dimsOf(c *Config) dims {
	m := c.Model
	d := dims{
		Config: m, q: m.Heads * m.HeadDim, kv: m.KVHeads * m.HeadDim,
		hiddenWidth: padded(m.Hidden), attnWidth: padded(m.Heads * m.HeadDim), actWidth: padded(m.Intermediate),
		rotary:   m.RotaryDims(),
		headRows: max(hostRows, min(mostHeadRows, c.MaxSlots)),
		segments: pages(c.MaxContext, kernels.Segment),
		qScale:   float32(cmp.Or(m.AttnScale, 1/math.Sqrt(float64(m.HeadDim)))),
	}
	d.adapters = adapterLayoutOf(c)
	if m.MoE != nil {
		d.perToken, d.expertWidth = m.MoE.PerToken, padded(m.MoE.Intermediate)
	}
	return d
}

// qkv is how many numbers the first product of a layer gives a token.
func (d *dims) qkv() int { return d.q + 2*d.kv }

// ropes is how many rotary embeddings there are: one, or one for each kind of attention.
func (d *dims) ropes() int {
	if d.SlidingRope != nil {
		return executor.MaxGroups
	}
	return 1
}

// products is how many a token takes in a layer with matrices of its own; of one with experts, in
// those that it takes.
func (d *dims) products() (n int64) {
	for l := range d.Layers {
		n += int64(d.Hidden) * int64(d.qkv()+d.q)
		if d.HasExperts(l) {
			n += int64(d.Hidden) * int64(d.MoE.Experts+3*d.perToken*d.MoE.Intermediate)
		} else {
			n += 3 * int64(d.Hidden) * int64(d.Intermediate)
		}
	}
	return n
}
