package cpuexec

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/cpuexec/kernels"
)

// packing is the panels of a packed that are to be filled. Any number of threads fill
// them, each the next one that none has taken.
type packing struct {
	kernels *kernels.Set
	parts   []packingPart
	taken   atomic.Int64
	left    sync.WaitGroup // panels to be filled
}

// packingPart is a matrix, whose last panel comes before end.
type packingPart struct {
	matrix
	from columns
	end  int
}

// add puts a matrix behind the others.
func (p *packing) add(m matrix, from columns) {
	p.parts = append(p.parts, packingPart{m, from, p.count() + m.count()})
	p.left.Add(m.count())
}

// count is the number of panels.
func (p *packing) count() int {
	if len(p.parts) == 0 {
		return 0
	}
	return p.parts[len(p.parts)-1].end
}

// over tells whether all panels are taken.
func (p *packing) over() bool { return int(p.taken.Load()) >= p.count() }

// one fills a panel; false: all are taken. tile is scratch.
func (p *packing) one(tile []float32) bool {
	n := int(p.taken.Add(1)) - 1
	if n >= p.count() {
		return false
	}
	defer p.left.Done()
	i := sort.Search(len(p.parts), func(i int) bool { return n < p.parts[i].end })
	part := &p.parts[i]
	at := n - part.end + part.count()
	packPanel(p.kernels, &part.matrix, at, part.from, tile)
	return true
}

// some fills panels for a time, one at least.
func (p *packing) some(tile []float32, d time.Duration) {
	for began := time.Now(); p.one(tile) && time.Since(began) < d; {
	}
}

// all fills all panels, on so many goroutines.
func (p *packing) all(threads int) {
	for range threads {
		go func() {
			tile := make([]float32, tileLen)
			for p.one(tile) {
			}
		}()
	}
	p.left.Wait()
}

// stop lets nobody take panels any more, and waits for those that are taken.
func (p *packing) stop() {
	if taken := int(p.taken.Swap(int64(p.count()))); taken < p.count() {
		p.left.Add(taken - p.count())
	}
	p.left.Wait()
}
