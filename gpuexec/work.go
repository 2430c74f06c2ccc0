package gpuexec

import (
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
)

// work is a step's buffers on the device. T is Config.MaxTokens.
type work struct {
	inputs [MaxOutstanding]cuda.Pointer     // what a step begins with, see input
	drawn  [MaxOutstanding]cuda.Pointer     // i32 [slot], by draw of a step
	tables [executor.MaxGroups]cuda.Pointer // i32 [slot][page], per group
	last   cuda.Pointer                     // i32 [slot], the token drawn last
	rope   [executor.MaxGroups]cuda.Pointer // f32 [position][rotary], per kind of attention

	history cuda.Pointer                 // i32 [slot][position]: ids, of sequences that are drawn by what they have
	edits   cuda.Pointer                 // i32 [slot][kernels.EditInts]
	told    [MaxOutstanding]cuda.Pointer // of tokens of a step, see step.told

	x     cuda.Pointer // f32 [T][hidden], the residual stream
	y     cuda.Pointer // bf16 [T][hiddenWidth], of it what products take
	parts cuda.Pointer // f32, what products give: [part][T][n]
	q     cuda.Pointer // bf16 [T][head][padded dim]
	attn  cuda.Pointer // bf16 [T][attnWidth]
	act   cuda.Pointer // bf16 [T][actWidth]
	state cuda.Pointer // f32 [splitTokens][head][segment][dim+2], of attention

	low   cuda.Pointer // f32, what adapters make of a product's rows: kernels.LoraFloats
	delta cuda.Pointer // bf16 [T][n], what adapters add to a product

	chosen, weight cuda.Pointer // i32, f32 [T][perToken]
	order, row     cuda.Pointer // i32, likewise: sorted by expert, and back
	starts         cuda.Pointer // i32 [experts+1]
	expertAct      cuda.Pointer // bf16 [T*perToken][expertWidth]
	expertOut      cuda.Pointer // f32 [T*perToken][hidden]

	headIn cuda.Pointer // bf16 [headRows][hiddenWidth]
	logits cuda.Pointer // f32 [headRows][vocab]
	draw   cuda.Pointer // what blocks that draw have for themselves
	vendor cuda.Pointer // cublaslt.Workspace bytes; of an executor with a Config.CublasLt
}

// layWork lays the buffers out from base on, and answers how many bytes they take.
func layWork(c *Config, d *dims, groups int, base cuda.Pointer) (work, int64) {
	a, t, w := &cutter{base: base}, c.MaxTokens, work{}
	for i := range w.inputs {
		w.inputs[i], w.drawn[i] = a.i32(c.inputLen(groups)), a.i32(c.MaxSlots)
	}
	for g := range groups {
		w.tables[g] = a.i32(c.MaxSlots * pages(c.MaxContext, c.PageSize))
	}
	w.last = a.i32(c.MaxSlots)
	w.history, w.edits = a.i32(c.MaxSlots*c.MaxContext), a.i32(c.MaxSlots*kernels.EditInts)
	for i := range w.told {
		w.told[i] = a.bytes(int64(c.toldBytes()))
	}
	for i := range d.ropes() {
		w.rope[i] = a.f32(c.MaxContext * d.rotary)
	}
	w.x, w.y = a.f32(t*d.Hidden), a.bf16(t*d.hiddenWidth)
	parts := d.partsFloats(t)
	if c.CublasLt != nil { // which answers gate and up before they are gated
		parts = max(parts, t*2*d.Intermediate)
	}
	w.parts = a.f32(parts)
	w.q, w.attn, w.act = a.bf16(t*d.Heads*kernels.HeadWidth(d.HeadDim)), a.bf16(t*d.attnWidth), a.bf16(t*d.actWidth)
	w.state = a.f32(min(t, splitTokens) * d.Heads * d.segments * (d.HeadDim + 2))
	low, delta := d.adapters.work(c.Model, t)
	w.low, w.delta = a.f32(low), a.bf16(delta)
	if rows := t * d.perToken; rows > 0 {
		w.chosen, w.weight, w.order, w.row = a.i32(rows), a.f32(rows), a.i32(rows), a.i32(rows)
		w.starts = a.i32(d.MoE.Experts + 1)
		w.expertAct, w.expertOut = a.bf16(rows*d.expertWidth), a.f32(rows*d.Hidden)
	}
	w.headIn, w.logits = a.bf16(d.headRows*d.hiddenWidth), a.f32(d.headRows*d.Vocab)
	w.draw = a.bytes(int64(kernels.DrawScratch(drawBlocks, d.Vocab)))
	if c.CublasLt != nil {
		w.vendor = a.bytes(cublaslt.Workspace)
	}
	return w, a.used
}

// partsFloats is the most numbers that a product of a layer gives so many tokens.
func (d *dims) partsFloats(t int) int {
	most := t * d.Hidden // of experts
	for _, p := range []struct{ n, k int }{{d.qkv(), d.hiddenWidth}, {d.Hidden, d.attnWidth}, {d.Hidden, d.actWidth}} {
		most = max(most, kernels.PartsFloats(t, p.n, p.k))
	}
	return most
}
