package gateway

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// occupied looks for a request or sequence that has an id which one of n sequences would have.
func (g *guest) occupied(id string, n int) (which string, is bool) {
	if id == "" {
		return "", false
	}
	for i := range n {
		which = id
		if i > 0 {
			which = id + "/" + strconv.Itoa(i)
		}
		if g.requests[which] != nil || g.names[which] != nil {
			return which, true
		}
	}
	return "", false
}

// name gives a request an id, where it has none, and the engine another name for it: ids are
// a client's own, and another client may have the same. A seed that follows from an id is
// nevertheless that of the client's.
func (g *guest) name(r *request, ask *texts.Request) {
	named := r.id != ""
	for again := !named; again; _, again = g.occupied(r.id, maxSequences) {
		g.unnamed++
		r.id = "req-" + strconv.FormatUint(g.unnamed, 10)
	}
	if named && ask.Seed == nil {
		ask.Seed = new(engine.SeedOf(g.seed, r.id))
	}
	r.name = g.entry.prefix + r.id
	ask.ID = r.name
	g.requests[r.id] = r
}

// unnamed is an engine's error without the name that the engine has for the request, which is
// not the client's.
type unnamed struct {
	error
	name string
}

func (u unnamed) Error() string {
	return strings.TrimPrefix(u.error.Error(), fmt.Sprintf("request %q: ", u.name))
}

func (u unnamed) Unwrap() error { return u.error }
