package gpuexec

import (
	"fmt"

	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// What a row fails of that the device could draw no token from: as it is, or as its request changes it.
var (
	errUnusable  = fmt.Errorf("%w: one is NaN or +Inf, or all are -Inf", sampling.ErrLogits)
	errProcessed = fmt.Errorf("%w after the request's biases, penalties and bans", errUnusable)
)

// take gives sequences what the device has drawn and scored. state is held.
func (e *Executor) take(s *step, r *executor.Result) {
	scores := e.scoreRecords(s)
	for i := range s.scores {
		m, told := &s.scores[i], toldOf(scores, i)
		switch {
		case e.slots[m.number].err != nil:
		case told.ID() < 0:
			e.fail(m, errUnusable)
		default:
			told.Scored(e.record(s, m, r))
		}
	}
	for i := range s.draws {
		m := &s.draws[i]
		q := &e.slots[m.number]
		switch id := s.ids[i]; {
		case q.err != nil:
		case id == kernels.Unusable:
			e.fail(m, errUnusable)
		case id < 0:
			e.fail(m, errProcessed)
		default:
			if q.sampling.Tell.Logprobs {
				toldOf(s.told, i).Drawn(&q.sampling, e.record(s, m, r))
			}
			e.give(m, r, id)
		}
	}
}

// toldOf is record i of a list of what is told.
func toldOf(list []byte, i int) kernels.Told {
	return kernels.Told(list[kernels.ToldBytes*i:][:kernels.ToldBytes])
}

// scoreRecords is what is told of scores.
func (e *Executor) scoreRecords(s *step) []byte { return s.told[kernels.ToldBytes*e.config.MaxSlots:] }

// record is the place in r for what is told of m; of a token of which nothing is told it is scratch memory.
func (e *Executor) record(s *step, m *sample, r *executor.Result) *sampling.Drawn {
	q, row := &e.slots[m.number], &r.Rows[m.row]
	switch {
	case m.score:
		if m.nth == 0 {
			row.Prompt = executor.Records(row.Prompt, s.batch.Rows[m.row].PromptScores(q.prompt))
		}
		return &row.Prompt[m.nth]
	case executor.Tells(&q.sampling.Tell):
		row.Drawn = executor.Records(row.Drawn, 1)
		return &row.Drawn[0]
	}
	return &e.drawn
}
