package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// transfers are the updates of a model's weights that come over HTTP: the last one, as an
// engine has one at a time.
type transfers struct {
	mu   sync.Mutex
	last *transfer // nil: there was none
}

// transfer is an update of the weights that comes by several calls. It belongs to the server,
// not to a connection, and is given up when no call has used it for as long as its lease.
type transfer struct {
	id      string
	options engine.UpdateOptions
	lease   time.Duration
	update  engine.Update
	ctx     context.Context // of what is done for it
	cancel  context.CancelFunc
	turn    chan struct{} // of who commits it

	mu        sync.Mutex
	users     int // calls that use it
	timer     *time.Timer
	due       time.Time    // then it rings
	over      error        // why it takes nothing more; nil: it does
	committed *versionTold // that it was, and what was answered
}

// Of an update that is over.
var (
	errAborted   = &refusal{http.StatusConflict, "the update was aborted: begin another one", "", engine.Code(weights.ErrClosed)}
	errCommitted = &refusal{http.StatusConflict, "the update was committed: begin another one", "", engine.Code(weights.ErrClosed)}
	errExpired   = &refusal{http.StatusConflict, "the update was given up, as no call used it for longer than its lease: begin another one", "", engine.Code(weights.ErrClosed)}
)

// begin opens an update of a model's weights.
func (s *Server) begin(m *Model, o engine.UpdateOptions, lease time.Duration) (*transfer, error) {
	if err := s.closing(); err != nil {
		return nil, err
	}
	t := &transfer{id: strings.ToLower(rand.Text()), options: o, lease: lease, turn: make(chan struct{}, 1)}
	t.ctx, t.cancel = context.WithCancel(s.ending)
	var err error
	if t.update, err = m.Engine.Update(t.ctx, o); err != nil {
		t.cancel()
		return nil, err
	}
	t.mu.Lock() // the timer may ring before it is noted
	t.due = time.Now().Add(lease)
	t.timer = time.AfterFunc(lease, t.expire)
	t.mu.Unlock()
	p := &m.trainer.transfers
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = t
	return t, nil
}

// expire gives up an update that nobody has used for as long as its lease.
func (t *transfer) expire() {
	t.mu.Lock()
	idle := t.users == 0 && !time.Now().Before(t.due)
	t.mu.Unlock()
	if idle {
		t.end(errExpired)
	}
}

// end gives up an update, and says why to those who use it. Once it is over that does nothing.
func (t *transfer) end(why error) {
	t.mu.Lock()
	ended := t.over != nil
	t.over = cmp.Or(t.over, why)
	t.timer.Stop()
	t.mu.Unlock()
	if !ended {
		t.update.Abort()
		t.cancel()
	}
}

// find is the update of an id.
func (p *transfers) find(id string) (*transfer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || p.last.id != id {
		return nil, &refusal{http.StatusNotFound, fmt.Sprintf("there is no update %.80q: begin one", id), "", "update_not_found"}
	}
	return p.last, nil
}

// open is the update that takes more; nil: there is none.
func (p *transfers) open() *transfer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || p.last.ended() != nil {
		return nil
	}
	return p.last
}

func (t *transfer) ended() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// use runs a call that uses the update, whose lease does not end meanwhile. An error that says
// that bytes are wrong ends the update, as nothing can mend it.
func (t *transfer) use(call func() error) error {
	t.mu.Lock()
	if t.over != nil {
		defer t.mu.Unlock()
		return t.over
	}
	t.users++
	t.mu.Unlock()
	defer t.leave()
	err := call()
	for _, wrong := range []error{weights.ErrTwice, weights.ErrTied, weights.ErrNotFinite, weights.ErrIndex, weights.ErrDigest, weights.ErrClosed} {
		if errors.Is(err, wrong) {
			t.end(err)
		}
	}
	if over := t.ended(); over != nil && (errors.Is(err, weights.ErrClosed) || errors.Is(err, context.Canceled) && t.ctx.Err() != nil) { // meanwhile: how
		return over
	}
	return err
}

// leave begins the lease again.
func (t *transfer) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users--; t.over == nil {
		t.due = time.Now().Add(t.lease)
		t.timer.Reset(t.lease)
	}
}

// expiresIn is how long the update lives without another call.
func (t *transfer) expiresIn() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, time.Until(t.due))
}

// abort gives up the update, and a commit of it that is under way, and says whether that, or one
// before, has come about nevertheless.
func (t *transfer) abort(ctx context.Context) (committed bool, err error) {
	t.end(errAborted)
	if err := t.take(ctx); err != nil {
		return false, err
	}
	defer t.pass()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.committed != nil, nil
}

// take waits for the turn of who commits.
func (t *transfer) take(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pass lets others have their turn.
func (t *transfer) pass() { <-t.turn }

// commit lets what was sent compute. It goes on when its caller has gone, who may ask again and
// is told the same.
func (t *transfer) commit(ctx context.Context, m *Model) (*versionTold, error) {
	if err := t.take(ctx); err != nil {
		return nil, err
	}
	defer t.pass()
	t.mu.Lock()
	done := t.committed
	t.mu.Unlock()
	if done != nil {
		return done, nil
	}
	begun := time.Now()
	err := t.use(func() error { return t.update.Commit(t.ctx) })
	switch {
	case errors.Is(err, weights.ErrMissing):
		return nil, err
	case err != nil:
		t.end(err)
		return nil, err
	}
	told := m.served(time.Since(begun))
	t.end(errCommitted)
	t.mu.Lock()
	t.committed, t.over = &told, errCommitted // even if it was to be given up meanwhile
	t.mu.Unlock()
	return &told, nil
}
