package replay

import (
	"context"
	"errors"
	"io"

	"github.com/cbactor/cbactor/internal/replaylog"
)

// Summary is what came of a replay.
type Summary struct {
	Requests  int   `json:"requests"`
	Sequences int   `json:"sequences"` // with those that are not compared
	Compared  int   `json:"compared"`  // sequences that were
	Tokens    int   `json:"tokens"`    // that were found equal
	Differ    int   `json:"differ"`    // sequences that are not what the log says
	Skipped   int   `json:"skipped"`   // sequences drawn with a processor or an adapter, which the log does not have
	Lost      int64 `json:"lost"`      // lines that the log says are missing
	Open      int   `json:"open"`      // requests that had not ended with all their sequences
	Torn      bool  `json:"torn"`      // the last line was cut

	First *Difference `json:"first,omitempty"` // the difference found first
}

// Run replays what is left of a log. Errors are those of the log, of the executor and
// of weights that cannot be had; a difference is none. When ctx ends, so does Run, with
// its error and what was found so far.
func (p *Player) Run(ctx context.Context, in *replaylog.Reader) (Summary, error) {
	p.sum = Summary{}
	err := p.run(ctx, in)
	s := p.sum
	s.Lost, s.Open, s.Torn = in.Lost(), in.Open(), in.Torn()
	return s, err
}

func (p *Player) run(ctx context.Context, in *replaylog.Reader) error {
	for more := true; more || len(p.waiting)+len(p.active) > 0; {
		for more && len(p.waiting) == 0 {
			e, err := in.Next()
			if more = !errors.Is(err, io.EOF); !more {
				break
			}
			if err == nil {
				err = p.take(e)
			}
			if err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// take takes in an entry of the log.
func (p *Player) take(e replaylog.Entry) error {
	if e.Weights != nil {
		p.Weights(*e.Weights)
		return nil
	}
	q, s := e.Request, e.Sequence
	p.sum.Sequences++
	if s.Child == 0 {
		p.sum.Requests++
	}
	c := &play{request: q, seq: s}
	if err := p.fits(c); err != nil {
		return err
	}
	switch d := contradiction(q, s); {
	case d != nil:
		p.sum.Compared++
		p.differs(d)
	case len(s.Tokens) == 0:
	case q.Processor || q.Adapter != "":
		p.sum.Skipped++
	default:
		p.sum.Compared++
		p.waiting = append(p.waiting, c)
	}
	return nil
}
