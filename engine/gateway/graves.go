package gateway

// mostGraves is how many guests are remembered that were given up.
const mostGraves = 4096

// graves are the ids of guests that were given up with all that they had: their clients are
// told when they come again, so that they do not ask again for what was done. Of very many
// the oldest are forgotten.
type graves struct {
	ids  map[string]bool
	list []string // the oldest first, some of which may have been visited
}

// add remembers a guest.
func (g *graves) add(id string) {
	if g.ids[id] {
		return
	}
	if len(g.list) == mostGraves {
		delete(g.ids, g.list[0])
		g.list = g.list[1:]
	}
	if g.ids == nil {
		g.ids = map[string]bool{}
	}
	g.ids[id] = true
	g.list = append(g.list, id)
}

// visit tells whether a guest is remembered, for the last time.
func (g *graves) visit(id string) bool {
	was := g.ids[id]
	delete(g.ids, id)
	return was
}
