package remote

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// Bounds of what is under way.
const (
	align      = 64       // of parts of tensors: no number is cut
	mostChunk  = 1 << 20  // bytes of data in a call
	mostFlow   = 8 << 20  // of all calls with data
	queueBytes = 64 << 20 // that may wait to be written
)

// welcome is what the engine has said of itself.
type welcome struct {
	info  engine.Info
	model Model
	chunk int           // bytes of data in a call or an answer
	flow  int           // calls with data
	most  int           // sequences
	kept  time.Duration // what the client has, without a connection; 0: it is not told
}

// setting tells whether a field of the engine's configuration is true.
func (w *welcome) setting(name string) bool {
	i := slices.IndexFunc(w.info.Settings, func(s engine.Setting) bool { return s.Name == name })
	return i >= 0 && w.info.Settings[i].Value == true
}

// like tells that a client of an engine that has said other may go on with this one: as far as can be
// told its model is the same, and it tells and takes as much.
func (w *welcome) like(other *welcome) bool {
	return w.info.Vocab == other.info.Vocab && w.model.Text == other.model.Text && slices.Equal(w.model.Ends, other.model.Ends) &&
		w.setting("return_logprobs") == other.setting("return_logprobs") && w.setting("allow_block_sharing") == other.setting("allow_block_sharing") &&
		w.chunk >= other.chunk && w.flow >= other.flow
}

// readWelcome reads it.
func readWelcome(m *messages.Welcome) (w *welcome, err error) {
	w = new(welcome)
	if m.GetProtocol() != convert.Protocol {
		return w, fmt.Errorf("%w: it speaks version %d, this is %d", ErrProtocol, m.GetProtocol(), convert.Protocol)
	}
	if m.GetEngine() == "" || m.GetMaxChunk() < align || m.GetMaxInFlight() == 0 || m.GetMaxOpen() == 0 {
		return w, fmt.Errorf("%w: a welcome without the engine's name or its bounds", ErrMalformed)
	}
	if w.info, err = convert.InfoOf(m.GetInfo()); err != nil {
		return w, err
	}
	w.model = Model{Text: m.GetText(), Ends: m.GetRecommendedEnds(), Generation: m.GetRecommended()}
	w.chunk = int(min(m.GetMaxChunk(), mostChunk)) &^ (align - 1)
	w.flow = max(1, min(int(m.GetMaxInFlight()), mostFlow/w.chunk))
	w.most = int(m.GetMaxOpen())
	w.kept = time.Duration(min(m.GetKeptMs(), uint64(math.MaxInt64/time.Millisecond))) * time.Millisecond
	return w, nil
}

// hello is the first that is said over a connection.
func (l *link) hello() {
	for number, k := range l.open {
		if k.brief { // its answer is nobody's
			delete(l.open, number)
			l.arrive(number)
		}
	}
	k := &call{brief: true, message: &messages.Call{What: &messages.Call_Hello{Hello: &messages.Hello{Protocol: convert.Protocol, Engine: l.engine}}}}
	k.answer = func(r *messages.Reply, err error) { l.welcomed(r.GetWelcome(), err) }
	l.send(k)
	l.after(helloTime)
}

// welcomed goes on with what is open, if the engine still knows of it.
func (l *link) welcomed(m *messages.Welcome, err error) {
	switch l.state {
	case leaving:
		if err == nil {
			l.goodbye()
		} // else the connection ends, or has
		return
	case greeting:
	default:
		return // given up meanwhile
	}
	var w *welcome
	if err == nil {
		w, err = readWelcome(m)
	}
	if before := l.said.Load(); err == nil && before != nil && l.engine != m.GetEngine() && !w.like(before) {
		err = ErrOther
	}
	if err != nil {
		l.drop()
		l.failed(err)
		return
	}
	l.said.Store(w) // before anybody reads that a run has ended
	switch {
	case l.engine == "":
	case l.engine != m.GetEngine():
		l.endRun(ErrRestarted, ErrRestarted, false)
	case m.GetForgotten():
		away := fmt.Errorf("%w: the client was away for too long", wire.ErrLost)
		l.endRun(ofCall(away), ofOpen(away), false)
	}
	l.engine, l.most, l.state = m.GetEngine(), w.most, ready
	if l.patience = l.options.Patience; w.kept > 0 {
		l.patience = min(l.patience, w.kept)
	}
	l.begun, l.heard = time.Now(), false
	l.introduced(nil)
	l.resend()
	l.attach()
	l.flush()
	l.admit()
}
