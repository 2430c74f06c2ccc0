package gateway

import "slices"

// mostGraves is how many guests are remembered that were given up.
const mostGraves = 4096

// graves are guests that were given up with all that they had: their clients are told when they
// come again, so that they do not ask again for what was done. Of very many the oldest are
// forgotten.
type graves struct {
	list []grave // the oldest first
	is   map[grave]bool
}

// grave is a guest's: another identity with its id does not find it.
type grave struct{ identity, id string }

// add remembers a guest.
func (g *graves) add(one grave) {
	if g.is[one] {
		return
	}
	if len(g.list) == mostGraves {
		delete(g.is, g.list[0])
		g.list = g.list[1:]
	}
	if g.is == nil {
		g.is = map[grave]bool{}
	}
	g.is[one] = true
	g.list = append(g.list, one)
}

// visit tells whether a guest is remembered, for the last time.
func (g *graves) visit(one grave) bool {
	if !g.is[one] {
		return false
	}
	delete(g.is, one)
	g.list = slices.DeleteFunc(g.list, func(other grave) bool { return other == one })
	return true
}
