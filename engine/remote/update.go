package remote

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// update is an engine.Update at the engine.
type update struct {
	client  *Client
	number  uint64
	dropped string
	ctx     context.Context // as long as which it lives
	unbind  func() bool
	flow    *flow
}

// Update is engine.Engine.Update. The Put of what it returns sends the bytes and does not wait
// for the answer, which may be an error: the next Put has it, or Missing or Commit, which
// wait for all. data is the caller's again when Put returns.
func (c *Client) Update(ctx context.Context, o engine.UpdateOptions) (engine.Update, error) {
	u, err := c.begin(ctx, o, false)
	if err != nil { // not a nil *update
		return nil, err
	}
	return u, nil
}

// begin opens an update, beside the weights that serve or in their place.
func (c *Client) begin(ctx context.Context, o engine.UpdateOptions, inPlace bool) (*update, error) {
	if ctx == nil {
		return nil, fmt.Errorf("%w: the context is nil: give context.Background()", engine.ErrParams)
	}
	if o.KV > engine.KVAbort {
		return nil, fmt.Errorf("%w: KV policy %d, must be from %d to %d", engine.ErrParams, o.KV, engine.KVAsUpdate, engine.KVAbort)
	}
	parts, err := convert.Manifests(o.Manifest, c.link.said.Load().chunk)
	if err != nil {
		return nil, err
	}
	u := &update{client: c, ctx: ctx}
	run := 0 // of the first part: those behind belong to it
	for _, part := range parts {
		m := &messages.BeginUpdate{Base: o.Base, Version: o.Version, Kv: convert.KV(o.KV), Manifest: part, InPlace: inPlace}
		k := &call{message: &messages.Call{What: &messages.Call_BeginUpdate{BeginUpdate: m}}, run: run}
		k.answer = func(_ *messages.Reply, err error) { run = c.link.run }
		k.undo = func(r *messages.Reply) { c.link.ask(aborting(r.GetUpdate().GetUpdate())) }
		r, err := c.ask(ctx, k)
		if err != nil {
			return nil, err
		}
		u.number, u.dropped = r.GetUpdate().GetUpdate(), r.GetUpdate().GetDropped()
	}
	u.flow = c.newFlow(run)
	u.unbind = context.AfterFunc(ctx, func() {
		c.link.tell(&call{message: aborting(u.number), run: run, answer: func(*messages.Reply, error) {}})
	})
	return u, nil
}

func aborting(update uint64) *messages.Call {
	return &messages.Call{What: &messages.Call_AbortUpdate{AbortUpdate: &messages.AbortUpdate{Update: update}}}
}

// Dropped implements engine.Update.
func (u *update) Dropped() string { return u.dropped }

// Put implements engine.Update.
func (u *update) Put(name, dtype string, shape []int, offset int, data []byte) error {
	if offset < 0 {
		return fmt.Errorf("%w: the offset is %d", weights.ErrChunk, offset)
	}
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), u.client.link.said.Load().chunk)
		m := &messages.PutChunk{Update: u.number, Name: name, Dtype: dtype, Shape: convert.Shape(shape), Offset: uint64(offset), Data: bytes.Clone(data[:n])}
		if err := u.flow.put(u.ctx, &messages.Call{What: &messages.Call_PutChunk{PutChunk: m}}); err != nil {
			return err
		}
		offset, data = offset+n, data[n:]
	}
	return nil
}

// Missing implements engine.Update. Of very many gaps it has the first.
func (u *update) Missing(ctx context.Context) ([]weights.Gap, error) {
	if err := u.flow.wait(ctx); err != nil {
		return nil, err
	}
	r, err := u.ask(ctx, &messages.Call{What: &messages.Call_Missing{Missing: &messages.Missing{Update: u.number}}})
	if err != nil {
		return nil, err
	}
	return convert.GapsOf(r.GetGaps())
}

func (u *update) ask(ctx context.Context, m *messages.Call) (*messages.Reply, error) {
	return u.client.ask(ctx, &call{message: m, run: u.flow.run})
}

// Commit implements engine.Update. Where the connection has ended for good, or ctx has and the
// engine does not answer within 5 s, it is not known what serves: Client.Version tells.
func (u *update) Commit(ctx context.Context) error {
	if err := u.flow.wait(ctx); err != nil {
		return err
	}
	_, err := u.ask(ctx, &messages.Call{What: &messages.Call_Commit{Commit: &messages.Commit{Update: u.number}}})
	if err == nil {
		u.unbind()
	}
	return err
}

// Abort implements engine.Update. It waits for the engine for 5 s at most.
func (u *update) Abort() {
	if !u.unbind() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patientTime)
	defer cancel()
	// An update that was not heard of is none, and one whose client is gone is aborted.
	_, _ = u.ask(ctx, aborting(u.number))
}

// Rollback is engine.Engine.Rollback.
func (c *Client) Rollback(ctx context.Context, version string, kv engine.KVPolicy) error {
	return c.do(ctx, &messages.Call{What: &messages.Call_Rollback{Rollback: &messages.Rollback{Version: version, Kv: convert.KV(kv)}}})
}

// Checksum is engine.Engine.Checksum: the weights stay where they are.
func (c *Client) Checksum(ctx context.Context, kind weights.DigestKind) (version string, digest weights.Digest, err error) {
	if kind == weights.NoDigest || kind > weights.XXH3_128 {
		return "", digest, fmt.Errorf("%w: checksum of kind %d: give one of sha256, xxh3-64, xxh3-128", engine.ErrParams, kind)
	}
	r, err := c.ask(ctx, &call{message: &messages.Call{What: &messages.Call_Checksum{Checksum: &messages.Checksum{Kind: kind.String()}}}})
	if err != nil {
		return "", digest, err
	}
	digest, err = weights.ParseDigest(r.GetDigest().GetDigest())
	if err == nil && digest.Kind != kind {
		err = fmt.Errorf("%w: a digest of kind %s", ErrMalformed, digest.Kind)
	}
	return r.GetDigest().GetVersion(), digest, err
}
