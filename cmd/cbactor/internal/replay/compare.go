package replay

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/replaylog"
)

// Difference is where a sequence is not what its log says.
type Difference struct {
	ID       string // of the request
	Child    int32
	Token    int // place among those generated
	Position int // among all
	What     string
}

// String says it in a line.
func (d *Difference) String() string {
	who := fmt.Sprintf("request %.60q", d.ID)
	if d.Child > 0 {
		who += fmt.Sprintf(", sequence %d", d.Child)
	}
	return fmt.Sprintf("%s, token %d (position %d): %s", who, d.Token, d.Position, d.What)
}

// difference makes one of the token in place at.
func difference(q *replaylog.Request, s *replaylog.Sequence, at int, format string, args ...any) *Difference {
	return &Difference{ID: q.ID, Child: s.Child, Token: at, Position: len(q.Prompt) + at, What: fmt.Sprintf(format, args...)}
}

// contradiction is where a sequence cannot be as the log says, whatever the weights
// are; nil: nowhere.
func contradiction(q *replaylog.Request, s *replaylog.Sequence) *Difference {
	n := len(s.Tokens)
	at := spansDiffer(q, s)
	switch {
	case at >= 0:
		return difference(q, s, at, "the log's spans disagree on which weights sampled it")
	case q.MaxNew > 0 && n > q.MaxNew:
		return difference(q, s, q.MaxNew, "the request asked for %d tokens, the log has %d", q.MaxNew, n)
	}
	for i, id := range s.Tokens[:max(0, n-1)] {
		if slices.Contains(q.EOS, id) {
			return difference(q, s, i, "%d ends a sequence, and the log goes on", id)
		}
	}
	if s.Finish == "stop" && !s.Matched && (n == 0 || !slices.Contains(q.EOS, s.Tokens[n-1])) {
		return difference(q, s, max(0, n-1), "the log ends with a stop at an id that stops nothing")
	}
	return nil
}

// compare takes the results of a batch.
func (p *Player) compare() {
	left := p.active[:0]
	for _, c := range p.active {
		if c.row.at < 0 || p.goesOn(c, &p.result.Rows[c.row.at]) {
			left = append(left, c)
		}
	}
	clear(p.active[len(left):])
	p.active = left
}

// goesOn takes the result of a play's row, and tells whether it stays in its slot.
func (p *Player) goesOn(c *play, r *executor.RowResult) bool {
	switch {
	case r.Err != nil:
		p.differs(difference(c.request, c.seq, c.tokens, "%v", r.Err))
	case !c.row.sample:
		return true
	case len(r.Tokens) != 1:
		p.differs(difference(c.request, c.seq, c.tokens, "%d tokens were drawn", len(r.Tokens)))
	case r.Tokens[0] != c.seq.Tokens[c.tokens]:
		p.differs(difference(c.request, c.seq, c.tokens, "the log has %d, the replay %d", c.seq.Tokens[c.tokens], r.Tokens[0]))
	default:
		last := c.last()
		c.tokens++
		p.sum.Tokens++
		if !last {
			return true
		}
		if c.cache++; c.cache < len(c.seq.Caches) { // it was computed again from its beginning
			again := *c
			again.next = 0
			p.waiting = slices.Insert(p.waiting, 0, &again)
		}
	}
	p.retire = append(p.retire, c.place)
	return false
}

func (p *Player) differs(d *Difference) {
	if p.sum.Differ++; p.sum.First == nil {
		p.sum.First = d
	}
}
