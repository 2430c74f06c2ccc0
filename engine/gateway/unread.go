package gateway

import (
	"fmt"

	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/sampling"
)

// Bytes that are counted of what is here of a sequence, and of what is written of it.
const (
	idBytes     = 5
	momentBytes = 10
	newsBytes   = 64 // of a News without what is in it
)

// littleUnread is what a guest may always have, whatever others of its identity have.
const littleUnread = 1 << 20

func drawnBytes(list []sampling.Drawn) (n int) {
	for _, d := range list {
		n += convert.DrawnBytes(d)
	}
	return n
}

// bound ends a request of which a sequence has just grown, when all of the guest's are larger than
// they may be together and this one has more than its share: the engine would go on and on for a
// client that takes nothing.
func (g *guest) bound(q *sequence) {
	limit, err := g.options.Limits.Unread, g.weigh()
	switch {
	case q.final != nil || q.failed != nil || q.unread < g.unread/len(g.streams):
		return
	case g.unread > limit:
		err = fmt.Errorf("%w: %d bytes of sequences were not taken, there may be %d", convert.ErrLimit, g.unread, limit)
	case err == nil || g.unread < littleUnread:
		return
	}
	g.log.Warn().Err(err).Str("request", q.request.id).Msg("a request is ended")
	for _, s := range q.request.sequences {
		if s.final == nil {
			s.failed = err
		}
	}
	q.request.cancel()
}
