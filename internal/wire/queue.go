package wire

import (
	"fmt"
	"sync"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// queue has the frames that wait to be written, bounded by their bytes. Any goroutine
// puts, one takes.
type queue struct {
	target  []byte // encoded: of all batches; set before the first message
	limit   int    // bytes
	largest int    // bytes of a message

	mu     sync.Mutex
	came   sync.Cond
	list   []any // *batch, *Written or, encoded, a frame that is no batch; the oldest first
	bytes  int   // of all of them, and of the one that is being written
	closed bool  // nothing is put any more
}

func newQueue(l Limits) *queue {
	q := &queue{limit: l.Queue, largest: l.Message}
	q.came.L = &q.mu
	return q
}

// put encodes a message and appends it, unless the queue is closed.
func (q *queue) put(m proto.Message) error {
	size, name := proto.Size(m), m.ProtoReflect().Descriptor().FullName()
	if size > q.largest {
		return fmt.Errorf("%w: a %s of %d bytes, more than %d", ErrProtocol, name, size, q.largest)
	}
	room := roomFor(name, size)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil
	}
	if q.bytes+room > q.limit {
		return fmt.Errorf("%w: %d bytes", ErrSlow, q.bytes)
	}
	b := q.last()
	if b == nil || b.room() < room || len(b.types) == maxNames {
		b = newBatch(q.target, room)
		q.bytes += len(b.data)
		q.list = append(q.list, b)
		q.came.Signal()
	}
	was := len(b.data)
	if err := b.add(m, name, size); err != nil {
		return fmt.Errorf("%w: a %s cannot be encoded: %w", ErrProtocol, name, err)
	}
	q.bytes += len(b.data) - was
	return nil
}

// last is the batch that may be added to; nil: there is none.
func (q *queue) last() *batch {
	if len(q.list) == 0 {
		return nil
	}
	b, _ := q.list[len(q.list)-1].(*batch)
	return b
}

// putFrame appends a frame that is no batch.
func (q *queue) putFrame(frame []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.bytes += len(frame)
		q.list = append(q.list, frame)
		q.came.Signal()
	}
}

// mark appends what take hands over when all before it is written.
func (q *queue) mark(w *Written) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.list = append(q.list, w)
		q.came.Signal()
	}
}

// take waits for the next frame, or mark, and hands it over; false: the queue is closed and empty.
// The frame taken before is written.
func (q *queue) take(written int) (frame mem.BufferSlice, bytes int, mark *Written, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= written
	for len(q.list) == 0 {
		if q.closed {
			return nil, 0, nil, false
		}
		q.came.Wait()
	}
	next := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	switch next := next.(type) {
	case []byte:
		return mem.BufferSlice{mem.SliceBuffer(next)}, len(next), nil, true
	case *Written:
		return nil, 0, next, true
	default:
		b := next.(*batch)
		b.done()
		return b.buffers(), len(b.data), nil, true
	}
}

// close lets nothing in any more; with drop, what is there is not written, either.
func (q *queue) close(drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if drop {
		for _, frame := range q.list {
			if b, ok := frame.(*batch); ok {
				b.free()
			}
		}
		q.list = nil
	}
	q.came.Broadcast()
}
