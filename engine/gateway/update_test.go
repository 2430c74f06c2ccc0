package gateway_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// trained is a set of the tiny model to be sent: its own with signs turned over.
type trained struct {
	set      *weights.Set
	manifest weights.Manifest
	inPlace  bool
}

func newTrained(t *testing.T, r *rig) *trained {
	t.Helper()
	set, err := weights.Load(r.model.Config, r.model, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	w := &trained{set: set}
	for tensor := range set.All() {
		size := tensor.DType.RowBytes(1)
		for i := size - 1; i < len(tensor.Data); i += 3 * size {
			tensor.Data[i] ^= 0x80
		}
		w.manifest.Tensors = append(w.manifest.Tensors, weights.Entry{Name: tensor.Name, DType: tensor.DType.String(), Shape: tensor.Shape,
			Digest: weights.Sum(weights.XXH3_128, tensor.Data)})
	}
	return w
}

// begin opens an update by a manifest in parts.
func (w *trained) begin(t *testing.T, c *client, version string) uint64 {
	t.Helper()
	parts, err := convert.Manifests(w.manifest, 300)
	if err != nil || len(parts) < 3 {
		t.Fatal(len(parts), err)
	}
	var u *messages.Update
	for _, p := range parts {
		u = c.do(&messages.Call{What: &messages.Call_BeginUpdate{BeginUpdate: &messages.BeginUpdate{Version: version, Kv: messages.KV_KV_KEEP, Manifest: p, InPlace: w.inPlace}}}).GetUpdate()
		if (u == nil) != p.More {
			t.Fatalf("%v is answered by %v", p, u)
		}
	}
	return u.Update
}

// chunks are calls that bring all tensors, n bytes at a time.
func (w *trained) chunks(update uint64, n int) (calls []*messages.Call) {
	for tensor := range w.set.All() {
		for at := 0; at < len(tensor.Data); at += n {
			calls = append(calls, &messages.Call{What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Update: update, Name: tensor.Name, Dtype: tensor.DType.String(),
				Shape: convert.Shape(tensor.Shape), Offset: uint64(at), Data: tensor.Data[at:min(at+n, len(tensor.Data))]}}})
		}
	}
	return calls
}

// pour makes calls, at most window of them under way, and fails unless all go well.
func (c *client) pour(calls []*messages.Call) {
	c.t.Helper()
	const window = 16
	var sent []uint64
	answer := func() {
		c.t.Helper()
		if err := convert.ErrorOf(c.reply(sent[0], 0).Error); err != nil {
			c.t.Fatal(err)
		}
		sent = sent[1:]
	}
	for _, m := range calls {
		if len(sent) == window {
			answer()
		}
		sent = append(sent, c.send(m))
	}
	for len(sent) > 0 {
		answer()
	}
}

func commit(update uint64) *messages.Call {
	return &messages.Call{What: &messages.Call_Commit{Commit: &messages.Commit{Update: update}}}
}

// Weights arrive in chunks, over two connections, and compute from their commit on; there is a
// way back.
func TestUpdate(t *testing.T) {
	r := serve(t, engine.Config{Threads: 1}, gateway.Options{})
	w := newTrained(t, r)
	c := join(t, r)
	prompt := []int32{3, 1, 4, 1, 5, 9, 2, 6}
	first := r.local(t, prompt, 10)
	checksum := func() *messages.Digest {
		return c.do(&messages.Call{What: &messages.Call_Checksum{Checksum: &messages.Checksum{Kind: "sha256"}}}).GetDigest()
	}
	before := checksum()
	u := w.begin(t, c, "v2")
	c.fails(commit(u), weights.ErrMissing)
	gaps := c.do(&messages.Call{What: &messages.Call_Missing{Missing: &messages.Missing{Update: u}}}).GetGaps()
	if len(gaps.Gaps) != len(w.manifest.Tensors) || gaps.More {
		t.Errorf("%v", gaps)
	}
	c.cut()
	c.hello()
	c.pour(w.chunks(u, 10_000))
	c.do(commit(u))
	c.fails(commit(u), weights.ErrClosed)
	c.do(&messages.Call{What: &messages.Call_AbortUpdate{AbortUpdate: &messages.AbortUpdate{Update: u}}})
	if d := checksum(); d.Version != "v2" || d.Digest != w.set.Digest(weights.SHA256).String() || d.Digest == before.Digest {
		t.Errorf("%v", d)
	}
	h := c.whole(c.do(callOf(generate("", prompt, 10))).GetAccepted().GetSequences()[0].Stream)
	if slices.Equal(h.ids, first.TokenIDs) || h.end.WeightVersions[0].Version != "v2" {
		t.Errorf("%v by %v", h.ids, h.end.WeightVersions)
	}
	c.do(&messages.Call{What: &messages.Call_Rollback{Rollback: &messages.Rollback{Version: engine.FirstVersion}}})
	if d := checksum(); d.Digest != before.Digest {
		t.Errorf("%v, want %v", d, before)
	}
	if h := c.whole(c.do(callOf(generate("", prompt, 10))).GetAccepted().GetSequences()[0].Stream); !slices.Equal(h.ids, first.TokenIDs) {
		t.Errorf("%v, want %v", h.ids, first.TokenIDs)
	}
}

// Updates that cannot be are refused with their own errors, and one whose sender is gone does
// not keep others from theirs.
func TestUpdatesRefused(t *testing.T) {
	r := serve(t, engine.Config{Threads: 1}, gateway.Options{Kept: 50 * time.Millisecond})
	w := newTrained(t, r)
	c, other := join(t, r), join(t, r)
	u := w.begin(t, c, "v2")
	one := w.manifest.Tensors[0]
	chunk := func(m *messages.PutChunk) *messages.Call {
		return &messages.Call{What: &messages.Call_PutChunk{PutChunk: m}}
	}
	begin := func(m *messages.BeginUpdate) *messages.Call {
		return &messages.Call{What: &messages.Call_BeginUpdate{BeginUpdate: m}}
	}
	parts, err := convert.Manifests(w.manifest, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	other.fails(begin(&messages.BeginUpdate{Version: "v3", Manifest: parts[0]}), weights.ErrBusy)
	c.fails(begin(&messages.BeginUpdate{Version: engine.FirstVersion, Manifest: parts[0]}), weights.ErrVersion)
	c.fails(begin(&messages.BeginUpdate{Version: "v3", Manifest: &messages.Manifest{Digest: "md5:0"}}), weights.ErrDigest)
	c.fails(begin(&messages.BeginUpdate{Version: "v3", Kv: 12, Manifest: parts[0]}), engine.ErrParams)
	c.fails(chunk(&messages.PutChunk{Update: u, Name: "nobody's"}), weights.ErrUnknown)
	c.fails(chunk(&messages.PutChunk{Update: u, Name: one.Name, Dtype: one.DType, Shape: []int64{-1}}), engine.ErrParams)
	c.fails(chunk(&messages.PutChunk{Update: u, Name: one.Name, Dtype: one.DType, Shape: convert.Shape(one.Shape), Offset: 1 << 63}), engine.ErrParams)
	c.fails(chunk(&messages.PutChunk{Update: u, Name: one.Name, Dtype: one.DType, Shape: convert.Shape(one.Shape), Offset: 1 << 40, Data: []byte{1, 2, 3, 4}}), weights.ErrChunk)
	c.fails(chunk(&messages.PutChunk{Update: u, Data: make([]byte, 1<<20+1)}), convert.ErrLimit)
	c.fails(chunk(&messages.PutChunk{Update: 99}), weights.ErrClosed)
	other.fails(chunk(&messages.PutChunk{Update: u, Name: one.Name, Dtype: one.DType, Shape: convert.Shape(one.Shape)}), weights.ErrClosed)
	other.fails(&messages.Call{What: &messages.Call_Checksum{Checksum: &messages.Checksum{Kind: "md5"}}}, engine.ErrParams)
	other.fails(&messages.Call{What: &messages.Call_Rollback{Rollback: &messages.Rollback{Version: "v0"}}}, weights.ErrVersion)
	c.cut()
	until(t, func() bool {
		reply := other.ask(begin(&messages.BeginUpdate{Version: "v3", Manifest: parts[0]}))
		return reply.Error == nil
	}, func() string { return "the place of an update whose sender is gone" })
}

// Parts of a manifest go on from one to the next: those of one that was given up are no part of
// another.
func TestManifestParts(t *testing.T) {
	r := serve(t, engine.Config{Threads: 1}, gateway.Options{})
	w := newTrained(t, r)
	c := join(t, r)
	parts, err := convert.Manifests(w.manifest, 300)
	if err != nil || len(parts) < 3 {
		t.Fatal(len(parts), err)
	}
	begin := func(m *messages.Manifest) *messages.Call {
		return &messages.Call{What: &messages.Call_BeginUpdate{BeginUpdate: &messages.BeginUpdate{Version: "v2", Manifest: m}}}
	}
	c.do(begin(parts[0]))
	c.do(begin(parts[1]))
	c.fails(begin(parts[1]), engine.ErrParams)
	c.fails(begin(parts[2]), engine.ErrParams) // the one before has ended it
	c.do(begin(parts[0]))
	u := w.begin(t, c, "v2")
	c.pour(w.chunks(u, 1<<16))
	c.do(commit(u))
}

// Under a hold the weights are read and written, in parts, and compute from the release on.
func TestHeldWeights(t *testing.T) {
	r := serve(t, engine.Config{Threads: 1}, gateway.Options{})
	c := join(t, r)
	prompt := []int32{3, 1, 4, 1, 5}
	first := r.local(t, prompt, 10)
	hold := c.do(pause(&messages.Pause{})).GetHeld().GetHold()
	names := c.do(&messages.Call{What: &messages.Call_HeldNames{HeldNames: &messages.HeldNames{Hold: hold}}}).GetNames().GetNames()
	set, err := weights.Load(r.model.Config, r.model, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string, at, n int) *messages.TensorPart {
		return c.do(&messages.Call{What: &messages.Call_ReadTensor{ReadTensor: &messages.ReadTensor{Hold: hold, Name: name, Offset: uint64(at), Bytes: uint32(n)}}}).GetTensorPart()
	}
	for _, name := range names {
		want, ok := set.Tensor(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		var data []byte
		for part := read(name, 0, 5000); len(part.Data) > 0; part = read(name, len(data), 5000) {
			if data = append(data, part.Data...); part.Dtype != want.DType.String() || len(part.Shape) != len(want.Shape) {
				t.Fatalf("%s is %s of %v", name, part.Dtype, part.Shape)
			}
		}
		if !bytes.Equal(data, want.Data) {
			t.Fatalf("%s has other bytes", name)
		}
	}
	logits := c.do(&messages.Call{What: &messages.Call_Logits{Logits: &messages.Logits{Hold: hold, Ids: prompt}}}).GetNumbers().GetValues()
	if len(logits) != r.engine.Info().Vocab || logits[first.TokenIDs[0]] != slices.Max(logits) {
		t.Errorf("%d logits, of which not that of %d is the largest", len(logits), first.TokenIDs[0])
	}
	write := func(name string, at int, data []byte) *messages.Call {
		return &messages.Call{What: &messages.Call_WriteTensor{WriteTensor: &messages.WriteTensor{Hold: hold, Name: name, Offset: uint64(at), Data: data}}}
	}
	tensor, _ := set.Tensor(names[0])
	for at := 0; at+4 <= len(tensor.Data); at += 1 << 16 {
		c.do(write(names[0], at, make([]byte, min(1<<16, len(tensor.Data)-at))))
	}
	c.fails(write(names[0], len(tensor.Data)-1, []byte{1, 2}), weights.ErrChunk)
	c.fails(write(names[0], 1<<60, nil), weights.ErrChunk)
	c.fails(write("nobody's", 0, nil), weights.ErrUnknown)
	c.do(release(hold, "written"))
	if v := r.engine.Version(); v != "written" {
		t.Errorf("%q serves", v)
	}
	c.fails(write(names[0], 0, nil), engine.ErrHoldLost)
	c.fails(release(hold, ""), engine.ErrHoldLost)
	r.idle(t)
}
