package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// changing lets the weights of an engine over an executor of the caller's be changed as those of
// its own are: it gets the sets of a model, of which ECHO heeds the epochs. What its
// tokens depend on is written to the log that comes back, which is whole after Close.
func changing(t *testing.T, e *Engine, c *model.Config, m *maker) *bytes.Buffer {
	t.Helper()
	log := new(bytes.Buffer)
	e.model, e.maker = c, m
	e.recording = &recording{replaylog.NewRecorder(unclosed{log}, replaylog.Header{PageSize: 1, Vocab: e.Info().Vocab}, func(err error) { t.Error(err) })}
	e.recording.weights(m.weights, "")
	return log
}

// llamaSet is the first set of a model.
func llamaSet(t *testing.T, c *checkpoint.Checkpoint) *weights.Set {
	t.Helper()
	set, err := weights.Load(c.Config, c, 1, FirstVersion)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// unclosed is a writer that nothing is to be closed of.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// nextOf is the token that a sequence draws next, alone, of a cache whose positions epochs computed.
type nextOf func(e *replaylog.Entry, ids []int32, epochs []uint32) int32

func echoNext(_ *replaylog.Entry, ids []int32, epochs []uint32) int32 {
	return executor.EchoNext(ids, epochs, echoVocab)
}

// followsVersions holds the tokens of all sequences of a log against what each draws alone:
// each is what a cache gives whose positions the weights computed that are told, and is
// drawn with those that computed the last of them. It tells how many epochs drew tokens.
func followsVersions(t *testing.T, log io.Reader, next nextOf) (sequences, epochs int) {
	t.Helper()
	in, err := replaylog.NewReader(log)
	if err != nil {
		t.Fatal(err)
	}
	drew := map[uint32]bool{}
	for {
		e, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Sequence == nil {
			continue
		}
		sequences++
		ids := slices.Clone(e.Request.Prompt)
		for i, id := range e.Sequence.Tokens {
			cache := e.Sequence.Caches[0]
			for _, c := range e.Sequence.Caches {
				if c.First <= i {
					cache = c
				}
			}
			computed := perID(cache.Runs, len(ids))
			by := perID(e.Sequence.Sampled, i+1)[i]
			drew[by] = true
			if want := next(&e, ids, computed); id != want || by != computed[len(ids)-1] {
				t.Fatalf("%s: token %d is %d by epoch %d, want %d of a cache of %v", e.Request.ID, i, id, by, want, cache.Runs)
			}
			ids = append(ids, id)
		}
	}
	if in.Lost() > 0 || in.Torn() || in.Open() > 0 {
		t.Errorf("%d lines are lost, torn: %t, %d requests have no end", in.Lost(), in.Torn(), in.Open())
	}
	return sequences, len(drew)
}

// perID is the epoch of each of n places.
func perID(runs []replaylog.Run, n int) []uint32 {
	epochs := make([]uint32, n)
	for _, r := range runs {
		for i := int(r.Start); i < n; i++ {
			epochs[i] = r.Epoch
		}
	}
	return epochs
}

// kv is any policy.
func kv(r *rand.Rand) KVPolicy { return KVPolicy(r.IntN(4)) }

// amended is a manifest of one tensor, and other bytes for it.
func amended(t weights.Tensor, r *rand.Rand) (weights.Manifest, []byte) {
	data := bytes.Clone(t.Data)
	for range len(data) / 32 {
		data[r.IntN(len(data)/4)*4+3] ^= 0x80 // the sign of a number in float32
	}
	return weights.Manifest{Partial: true, Tensors: []weights.Entry{{Name: t.Name, DType: t.DType.String(), Shape: t.Shape}}}, data
}

// update sends new weights, all or not, and commits them, or has them written in place.
func (p *pauseStorm) update(ctx context.Context, r *rand.Rand) {
	manifest, data := amended(p.norm, r)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.IntN(6) == 0 {
		time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
	}
	o := UpdateOptions{Base: p.engine.Version(), Version: p.name(), Manifest: manifest, KV: kv(r)}
	if r.IntN(4) == 0 {
		p.call("update in place", func() error {
			return p.engine.UpdateInPlace(ctx, o, func(put weights.Put) error {
				return put(p.norm.Name, p.norm.DType.String(), p.norm.Shape, 0, data)
			})
		})
		return
	}
	var u Update
	if !p.call("update", func() (err error) { u, err = p.engine.Update(ctx, o); return err }) {
		return
	}
	defer u.Abort()
	time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
	if r.IntN(8) == 0 {
		return
	}
	put := func() error { return u.Put(p.norm.Name, p.norm.DType.String(), p.norm.Shape, 0, data) }
	if p.call("put", put) {
		p.call("commit", func() error { return u.Commit(ctx) })
	}
}

// rollback goes back to what is kept, if anything is.
func (p *pauseStorm) rollback(ctx context.Context, r *rand.Rand) {
	policy := kv(r)
	p.call("rollback", func() error { return p.engine.Rollback(ctx, p.engine.Kept(), policy) })
}

// write changes weights under a hold.
func (p *pauseStorm) write(ctx context.Context, h Hold, r *rand.Rand) (version string) {
	var w HeldWeights
	if !p.call("weights", func() (err error) { w, err = h.Weights(ctx); return err }) {
		return ""
	}
	var t weights.Tensor
	if !p.call("tensor", func() (err error) { t, err = w.Tensor(p.norm.Name); return err }) {
		return ""
	}
	_, data := amended(t, r)
	copy(t.Data, data)
	return p.name()
}

// name is one that no version has had.
func (p *pauseStorm) name() string { return fmt.Sprint("w", p.named.Add(1)) }
