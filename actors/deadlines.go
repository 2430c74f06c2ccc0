package actors

import (
	"container/heap"
	"time"
)

// deadlines are the open requests that have a time limit, the nearest first. It is
// a value: it reads no clock.
type deadlines struct{ heap dueHeap }

// set gives a request its nearest limit, the zero time: none.
func (d *deadlines) set(o *open, at time.Time) {
	there := o.place > 0
	o.due = at
	switch {
	case at.IsZero() && there:
		heap.Remove(&d.heap, o.place-1)
	case at.IsZero():
	case there:
		heap.Fix(&d.heap, o.place-1)
	default:
		heap.Push(&d.heap, o)
	}
}

// next is the nearest limit, the zero time: there is none.
func (d *deadlines) next() time.Time {
	if len(d.heap) == 0 {
		return time.Time{}
	}
	return d.heap[0].due
}

// passed is a request whose limit is not after now, nil: none.
func (d *deadlines) passed(now time.Time) *open {
	if len(d.heap) == 0 || d.heap[0].due.After(now) {
		return nil
	}
	return d.heap[0]
}

// dueHeap implements heap.Interface. A request knows its place, counted from 1.
type dueHeap []*open

func (h dueHeap) Len() int { return len(h) }

// Less lets the older go first among equals.
func (h dueHeap) Less(i, j int) bool {
	if c := h[i].due.Compare(h[j].due); c != 0 {
		return c < 0
	}
	return h[i].key < h[j].key
}

func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i+1, j+1
}

func (h *dueHeap) Push(x any) {
	o := x.(*open)
	*h = append(*h, o)
	o.place = len(*h)
}

func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	o := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	o.place = 0
	return o
}
