package server

import (
	"slices"
	"sync"
)

// openCalls are the calls whose requests are submitted and not answered yet.
type openCalls struct {
	mu   sync.Mutex
	list map[*call]struct{}
}

// enter has a call be among them, until leave.
func (o *openCalls) enter(c *call) (leave func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list == nil {
		o.list = map[*call]struct{}{}
	}
	o.list[c] = struct{}{}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.list, c)
	}
}

// abort ends the sequences of calls of a model, nil: of any, that have one of the names: what
// their clients were told, or what they call them themselves. Without names it is all of them.
// They are answered with what they have. It says how many calls that are.
func (o *openCalls) abort(m *Model, names []string) int {
	var list []*call
	o.mu.Lock()
	for c := range o.list {
		if (m == nil || c.model == m) && (len(names) == 0 || slices.Contains(names, c.id) || slices.Contains(names, c.request)) {
			list = append(list, c)
		}
	}
	o.mu.Unlock()
	for _, c := range list {
		for _, sequence := range c.open {
			c.model.Engine.Cancel(sequence.ID())
		}
	}
	return len(list)
}
