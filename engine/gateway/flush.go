package gateway

// flush waits until all that has come of a guest's sequences by now was told, as far as its
// client may be told.
type flush struct {
	tickets map[*sequence]uint64 // of those that may have something more
	then    func()
}

// flush calls then when all that has come by now was told.
func (g *guest) flush(then func()) {
	f := &flush{tickets: map[*sequence]uint64{}, then: then}
	for _, q := range g.streams {
		if q.pump != nil {
			f.tickets[q] = q.pump.ask()
		}
	}
	g.flushes = append(g.flushes, f)
	g.settleFlushes()
}

// drained notes that a sequence had nothing more when it was asked for the ticket-th time, or has
// ended.
func (g *guest) drained(q *sequence, ticket uint64) {
	for _, f := range g.flushes {
		if asked, waits := f.tickets[q]; waits && ticket >= asked {
			delete(f.tickets, q)
		}
	}
	g.settleFlushes()
}

// settleFlushes ends those that wait for nothing more.
func (g *guest) settleFlushes() {
	for len(g.flushes) > 0 && len(g.flushes[0].tickets) == 0 {
		f := g.flushes[0]
		g.flushes = g.flushes[1:]
		f.then()
	}
}
