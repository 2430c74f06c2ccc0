package replay

import (
	"slices"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/replaylog"
)

// play is a sequence that is computed again.
type play struct {
	request *replaylog.Request
	seq     *replaylog.Sequence
	cache   int   // place in seq.Caches
	tokens  int   // that were found equal
	next    int32 // position to compute

	place
	row rowOf
}

// place is where a play is in the executor.
type place struct {
	slot   executor.Slot
	blocks [][]int32 // per cache group
}

// rowOf is a play's row of the batch that runs.
type rowOf struct {
	at     int // in the batch; -1: none
	sample bool
}

// length is how many positions it ever computes: the last token's is not.
func (p *play) length() int { return len(p.request.Prompt) + len(p.seq.Tokens) - 1 }

// known is how many ids there are: the prompt and what was found equal.
func (p *play) known() int32 { return int32(len(p.request.Prompt) + p.tokens) }

// ids are those that are known.
func (p *play) ids() []int32 {
	return slices.Concat(p.request.Prompt, p.seq.Tokens[:p.tokens])
}

// run is by which epoch of the log the next position is computed, and where that ends.
func (p *play) run() (epoch uint32, end int32) {
	end = p.known()
	for _, r := range p.seq.Caches[p.cache].Runs {
		if r.Start > p.next {
			return epoch, min(end, r.Start)
		}
		epoch = r.Epoch
	}
	return epoch, end
}

// last tells that the next token is the last that comes from this cache.
func (p *play) last() bool {
	if p.cache+1 < len(p.seq.Caches) {
		return p.tokens+1 == p.seq.Caches[p.cache+1].First
	}
	return p.tokens+1 == len(p.seq.Tokens)
}

// admission tells the executor of it.
func (p *play) admission() executor.Admit {
	q := p.request
	return executor.Admit{Slot: p.slot, IDs: p.ids(), PromptLen: int32(len(q.Prompt)), Sampling: q.Sampling, Seed: q.Seed, Child: p.seq.Child, Parent: executor.NoSlot}
}

// addRow appends its next row to a batch, of most tokens at most.
func (p *play) addRow(b *executor.Batch, most int32) {
	_, end := p.run()
	end = min(end, p.next+most)
	p.row = rowOf{len(b.Rows), end == p.known()}
	b.Rows = append(b.Rows, executor.Row{Slot: p.slot, Start: p.next, Count: end - p.next, Sample: p.row.sample, Mask: -1})
	p.next = end
}

// spansDiffer is the first token that the log says was sampled by other weights than
// those that computed the position before it, or -1.
func spansDiffer(q *replaylog.Request, s *replaylog.Sequence) int {
	p := &play{request: q, seq: s}
	sampled := 0
	for ; p.tokens < len(s.Tokens); p.tokens++ {
		if p.cache+1 < len(s.Caches) && s.Caches[p.cache+1].First == p.tokens {
			p.cache++
		}
		if sampled+1 < len(s.Sampled) && int(s.Sampled[sampled+1].Start) == p.tokens {
			sampled++
		}
		p.next = p.known() - 1
		if epoch, _ := p.run(); epoch != s.Sampled[sampled].Epoch {
			return p.tokens
		}
	}
	return -1
}
