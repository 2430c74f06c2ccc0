package engine

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/sched"
	"github.com/cbactor/cbactor/weights"
)

// recording is the replay log of an engine. A nil one does nothing, nor does what comes
// from it: that check is all that an engine without a log pays.
type recording struct{ rec *replaylog.Recorder }

// newRecording begins the log, nil if there is none.
func (e *Engine) newRecording(r *Resolved) *recording {
	cfg := &r.Config
	if cfg.Record == nil {
		return nil
	}
	h := replaylog.Header{Executor: e.info.Executor, Compute: e.info.Compute, Quantize: r.quantized(), KVType: e.info.KVType, Attention: e.info.Attention,
		PageSize: e.info.PageSize, Vocab: e.info.Vocab, Seed: e.info.Seed}
	l := &recording{replaylog.NewRecorder(cfg.Record, h, func(err error) { cfg.Log.Warn().Err(err).Msg("record") })}
	l.weights(e.maker.weights, cfg.Checkpoint.Path)
	return l
}

// weights notes a set, before anything is computed with it. It reads the whole of it.
func (l *recording) weights(set *weights.Set, source string) {
	if l == nil {
		return
	}
	l.rec.Add(replaylog.Line{Weights: &replaylog.Weights{Epoch: set.Epoch, Version: set.Version, Digest: set.Digest(weights.XXH3_128).String(), Source: source}})
}

// request gives the records of a request their places in the log. It is noted with the
// first that is heard of it, which is when it is accepted.
func (l *recording) request(m *actors.Submit, sequences []Sequence) {
	if l == nil {
		return
	}
	params, eos := m.Params()
	q := &loggedRequest{rec: l.rec, line: replaylog.Request{ID: m.ID, Prompt: m.IDs, MaxNew: m.MaxNew, EOS: eos, Sampling: params, Seed: m.Seed, Sequences: len(sequences), Adapter: m.Adapter}}
	p := &q.line.Sampling
	q.line.Processor, p.Processor, p.Tell = p.Processor != nil, nil, sampling.Tell{}
	for i, s := range sequences {
		s.record.log = &logged{request: q, child: int32(i)}
	}
}

// close ends the log and waits until it is in its file.
func (l *recording) close() error {
	if l == nil {
		return nil
	}
	l.rec.Finish()
	select {
	case <-l.rec.Done():
		return nil
	case <-time.After(closeRecordTimeout):
		return fmt.Errorf("%w: a write does not return", replaylog.ErrWrite)
	}
}

// closeRecordTimeout bounds the wait for the replay log's writer.
const closeRecordTimeout = 30 * time.Second

// loggedRequest is a request that will be in the log.
type loggedRequest struct {
	rec  *replaylog.Recorder
	once sync.Once
	line replaylog.Request
}

// logged is a sequence that will be in the log when it ends. It is its record's.
type logged struct {
	request *loggedRequest
	child   int32
	epochs  []replaylog.Run // that sampled its tokens
	caches  []cached        // that they came from
	context int             // of the last one
}

// cached is which weights computed a cache from which the tokens came from first on.
type cached struct {
	first int
	runs  []sched.Run // up to context at least
}

// begun notes the request, if it is not noted yet.
func (l *logged) begun() {
	if l == nil {
		return
	}
	q := l.request
	q.once.Do(func() { q.rec.AddRequest(&q.line) })
}

// sampled notes what the token in place at, and those behind it, came from.
func (l *logged) sampled(news *actors.News, at int) {
	if l == nil {
		return
	}
	if n := len(l.epochs); n == 0 || l.epochs[n-1].Epoch != news.Epoch {
		l.epochs = append(l.epochs, replaylog.Run{Epoch: news.Epoch, Start: int32(at)})
	}
	runs := before(news.Cache)
	if n := len(l.caches); n > 0 && grown(l.caches[n-1].runs, runs, l.context) {
		l.caches[n-1].runs = runs
	} else {
		l.caches = append(l.caches, cached{at, runs})
	}
	l.context = news.Cache.Context
}

// before are the runs of a cache that begin before its context ends.
func before(c actors.Cache) []sched.Run {
	n := len(c.Runs)
	for n > 0 && int(c.Runs[n-1].Start) >= c.Context {
		n--
	}
	return c.Runs[:n]
}

// grown tells that runs are those that a cache had, with others behind its context at
// most.
func grown(had, runs []sched.Run, context int) bool {
	n := len(had)
	return len(runs) >= n && slices.Equal(runs[:n], had) && (len(runs) == n || int(runs[n].Start) >= context)
}

// ended notes the end of a sequence.
func (l *logged) ended(tokens []int32, end actors.End) {
	if l == nil {
		return
	}
	l.begun()
	s := &replaylog.Sequence{Request: l.request.line.Number, Child: l.child, Finish: string(end.Reason), Matched: end.Matched, Tokens: slices.Clone(tokens), Sampled: l.epochs}
	for _, c := range l.caches {
		to := replaylog.Cache{First: c.first}
		for _, r := range c.runs {
			to.Runs = append(to.Runs, replaylog.Run(r))
		}
		s.Caches = append(s.Caches, to)
	}
	l.request.rec.Add(replaylog.Line{Sequence: s})
}
