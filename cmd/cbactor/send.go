package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// sending says which weights to send, and as what.
type sending struct {
	path    string
	version string
	base    string
	kv      engine.KVPolicy
	digest  weights.DigestKind
	partial bool // tensors that are not there stay those of the base
	inPlace bool // over what serves
}

// sent is what an update has come to.
type sent struct {
	version, dropped string
	tensors          int
	bytes            int64         // that were sent
	took             time.Duration // all but reading for digests
}

// openWeights opens a file or a folder of tensors. The caller closes it.
func openWeights(path string) (*checkpoint.Stream, error) {
	s, err := checkpoint.OpenStream(path)
	if errors.Is(err, checkpoint.ErrFormat) || errors.Is(err, fs.ErrNotExist) {
		return nil, badUsage("%w", err)
	}
	return s, err
}

// complete takes from what a file of a part of the weights says of itself what was not
// said otherwise.
func (s *sending) complete(meta map[string]string) error {
	if s.partial && s.base == "" {
		s.base = meta[checkpoint.MetaBase]
	}
	if s.partial && s.version == "" {
		s.version = meta[checkpoint.MetaVersion]
	}
	if s.version == "" {
		return badUsage("the new weights need a name that none had before: give --version")
	}
	if s.partial && s.base == "" {
		return badUsage("a part of the weights is sent over a version: give it as --base")
	}
	return nil
}

// send sends weights to an engine and lets it compute with them. bar is how far it is;
// told is called before something that takes long. When ctx ends, nothing has changed.
func send(ctx context.Context, e engine.API, s sending, bar func(total int64) progress, told func(string)) (out sent, err error) {
	stream, err := openWeights(s.path)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	if err := s.complete(stream.Metadata); err != nil {
		return out, err
	}
	manifest := engine.ManifestOf(stream)
	manifest.Partial = s.partial
	for _, t := range stream.Tensors() {
		out.bytes += int64(t.Bytes)
	}
	if s.digest != weights.NoDigest {
		told("computing digests of " + s.path)
		if err := addDigests(ctx, s.path, s.digest, &manifest); err != nil {
			return out, err
		}
	}
	begin := time.Now()
	o := engine.UpdateOptions{Base: s.base, Version: s.version, Manifest: manifest, KV: s.kv}
	if s.inPlace {
		out.bytes *= 2
		err = sendOver(ctx, e, o, stream, bar(out.bytes))
	} else {
		out.dropped, err = sendBeside(ctx, e, o, stream, bar(out.bytes), told)
	}
	out.version, out.tensors, out.took = s.version, len(manifest.Tensors), time.Since(begin)
	return out, err
}

// sendBeside sends the tensors of a stream beside what serves.
func sendBeside(ctx context.Context, e engine.API, o engine.UpdateOptions, stream *checkpoint.Stream, done progress, told func(string)) (dropped string, err error) {
	u, err := e.Update(ctx, o)
	if errors.Is(err, weights.ErrMemory) {
		err = fmt.Errorf("%w: give --in-place", err)
	}
	if err != nil {
		return "", errors.Join(err, done.Close())
	}
	defer u.Abort() // after the commit it does nothing
	send := weights.Send(stream.Send).Guarded(ctx.Err)
	if err := errors.Join(send(counting(u.Put, done)), done.Close()); err != nil {
		return "", err
	}
	told("committing")
	return u.Dropped(), u.Commit(ctx)
}

// sendOver sends the tensors of a stream over what serves, twice.
func sendOver(ctx context.Context, e engine.API, o engine.UpdateOptions, stream *checkpoint.Stream, done progress) error {
	err := e.UpdateInPlace(ctx, o, func(put weights.Put) error { return stream.Send(counting(put, done)) })
	return errors.Join(err, done.Close())
}

// progress is how far something is.
type progress interface {
	Add(bytes int)
	Close() error
}

// counting is put that tells what has gone well.
func counting(put weights.Put, done progress) weights.Put {
	return func(name, dtype string, shape []int, offset int, data []byte) error {
		if err := put(name, dtype, shape, offset, data); err != nil {
			return err
		}
		done.Add(len(data))
		return nil
	}
}

// addDigests reads all tensors for their digests, and that of the whole.
func addDigests(ctx context.Context, path string, kind weights.DigestKind, m *weights.Manifest) (err error) {
	stream, err := openWeights(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	hashes := map[string]*weights.Hash{}
	for _, t := range m.Tensors {
		hashes[t.Name] = weights.NewHash(kind)
	}
	err = stream.Send(func(name, _ string, _ []int, _ int, data []byte) error {
		h := hashes[name]
		if h == nil {
			return fmt.Errorf("%w: %s has changed while it was read: send it again", checkpoint.ErrFormat, path)
		}
		h.Write(data)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	sums := map[string]weights.Digest{}
	for i := range m.Tensors {
		t := &m.Tensors[i]
		t.Digest = hashes[t.Name].Digest()
		sums[t.Name] = t.Digest
	}
	m.Digest = weights.WholeDigest(kind, sums)
	return nil
}
