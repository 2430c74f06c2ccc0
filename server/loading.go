package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// loadOptions say which weights to load from a path of this machine, and as what.
type loadOptions struct {
	param, path string // the parameter that has the path
	version     string // "": as the files say, or as label wants it
	label       string // what the version is to be called, if it needs no name of its own
	numbered    bool   // with a number behind it where others were called so
	base        string // "": any, or as the files say
	partial     *bool  // nil: as the files say
	kv          engine.KVPolicy
	inPlace     bool // over the weights that serve
	yielding    bool // likewise, if there is no memory for others beside them
}

// loadWeights loads weights as one update, and returns when they compute. Errors are those of
// engine.API's Update and UpdateInPlace, and of files that are not read. When ctx ends before
// the weights are in force, those that serve stay.
func (s *Server) loadWeights(ctx context.Context, m *Model, o loadOptions) (told versionTold, err error) {
	if err := s.closing(); err != nil {
		return told, err
	}
	stream, err := s.tensors(o.param, o.path)
	if err != nil {
		return told, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	u := engine.UpdateOptions{Manifest: engine.ManifestOf(stream), KV: o.kv}
	if o.partial != nil {
		u.Manifest.Partial = *o.partial
	}
	meta := stream.Metadata
	if !u.Manifest.Partial {
		meta = nil
	}
	u.Base, u.Version = cmp.Or(o.base, meta[checkpoint.MetaBase]), cmp.Or(o.version, meta[checkpoint.MetaVersion])
	if u.Version == "" && o.label == "" {
		return told, bad("version", "is missing: give the new weights a name that none had before")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ending, func() { cancel(errShutdown) })()
	begun := time.Now()
	if u.Version != "" {
		err = o.load(ctx, m.Engine, u, stream)
	} else {
		err = m.labelled(o.label, o.numbered, func(version string) error {
			u.Version = version
			return o.load(ctx, m.Engine, u, stream)
		})
	}
	if err != nil {
		return told, fmt.Errorf("%.200q: %w", o.path, err)
	}
	return m.served(time.Since(begun)), nil
}

// load has what a stream has compute.
func (o *loadOptions) load(ctx context.Context, e engine.API, u engine.UpdateOptions, stream *checkpoint.Stream) error {
	if !o.inPlace {
		if err := loadBeside(ctx, e, u, stream); !o.yielding || !errors.Is(err, weights.ErrMemory) {
			return err
		}
	}
	return e.UpdateInPlace(ctx, u, stream.Send)
}

// loadBeside stages what a stream has beside what serves, and commits it.
func loadBeside(ctx context.Context, e engine.API, o engine.UpdateOptions, stream *checkpoint.Stream) error {
	u, err := e.Update(ctx, o)
	if err != nil {
		return err
	}
	defer u.Abort() // after the commit it does nothing
	if err := weights.Send(stream.Send).Guarded(ctx.Err)(u.Put); err != nil {
		return err
	}
	return u.Commit(ctx)
}

type loadParams struct {
	Model   string `json:"model"`
	Path    string `json:"path"`
	Version string `json:"version"`
	Base    string `json:"base"`
	KV      string `json:"kv_policy"`
	Partial *bool  `json:"partial"`
	InPlace bool   `json:"in_place"`
}

// loading answers POST /v1/weights/load.
func (s *Server) loading(w http.ResponseWriter, r *http.Request) error {
	var p loadParams
	if err := s.strict(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	kv, err := m.policy(p.KV)
	if err != nil {
		return err
	}
	told, err := s.loadWeights(r.Context(), m, loadOptions{param: "path", path: p.Path, version: p.Version, base: p.Base, partial: p.Partial, kv: kv, inPlace: p.InPlace})
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, told)
}
