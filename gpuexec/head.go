package gpuexec

import (
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
)

// headDraws draws on the device what a step can draw there, and keeps it there for the next one.
func (l *launching) headDraws() {
	w, sent, n := &l.work, &l.s.sent, l.s.drawing
	for at := 0; at < n; at += l.dims.headRows {
		rows, skip := min(l.dims.headRows, n-at), cuda.Pointer(4*at)
		drawn := w.drawn[l.s.number] + skip
		l.head(sent.from+skip, rows)
		if l.s.greedy {
			l.do(l.kernels.Best(l.compute, drawn, w.logits, rows, l.dims.Vocab))
		} else {
			l.do(l.kernels.Draw(l.compute, &kernels.Drawing{
				IDs: drawn, Logits: w.logits, Records: sent.draws + cuda.Pointer(kernels.DrawBytes*at), Scratch: w.draw,
				History: w.history, Edits: w.edits, Told: w.told[l.s.number] + cuda.Pointer(kernels.ToldBytes*at), Context: l.config.MaxContext,
			}, rows, l.dims.Vocab, drawBlocks))
		}
		l.do(l.kernels.Keep(l.compute, w.last, drawn, sent.drawn+skip, rows))
	}
}

// headScores scores ids of prompts. No graph has that in it.
func (l *launching) headScores() {
	w, sent, told := &l.work, &l.s.sent, l.scoresTold(l.s)
	for at := 0; at < len(l.s.scores); at += l.dims.headRows {
		rows := min(l.dims.headRows, len(l.s.scores)-at)
		l.head(sent.scored+cuda.Pointer(4*at), rows)
		l.do(l.kernels.Score(l.compute, told+cuda.Pointer(kernels.ToldBytes*at), w.logits, sent.scores+cuda.Pointer(kernels.ScoreBytes*at), w.draw, rows, l.dims.Vocab, drawBlocks))
	}
}

// scoresTold is where on the device what a step tells of scores begins.
func (e *Executor) scoresTold(s *step) cuda.Pointer {
	return e.work.told[s.number] + cuda.Pointer(kernels.ToldBytes*e.config.MaxSlots)
}

// headLogits computes the logits of samples that the host uses, hostRows at most.
func (l *launching) headLogits(from, to int) {
	l.head(l.s.sent.read+cuda.Pointer(4*from), to-from)
}

// head computes the logits after tokens, which are listed on the device.
func (l *launching) head(tokens cuda.Pointer, rows int) {
	d, w, p := &l.dims, &l.work, l.s.weights
	l.do(l.kernels.Norm(l.compute, w.headIn, w.x, tokens, p.norm, rows, d.Hidden, d.hiddenWidth, float32(d.NormEps)))
	if !l.byVendor(w.logits, w.headIn, &p.head, rows, d.headRows) {
		l.do(l.kernels.Gemm(l.compute, w.logits, w.headIn, p.head.Weights, rows, p.head.n, p.head.k, 1))
	}
	if d.LogitScale != 0 || d.LogitSoftcap != 0 {
		l.do(l.kernels.Shape(l.compute, w.logits, rows, d.Vocab, float32(d.LogitScale), float32(d.LogitSoftcap)))
	}
}
