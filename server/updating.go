package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// defaultLease is how long an update lives without a call that uses it.
const defaultLease = time.Minute

// updateParams are what POST /v1/weights/updates takes.
type updateParams struct {
	Model    string         `json:"model"`
	Version  string         `json:"version"` // that none had before
	Base     string         `json:"base"`    // that must be serving; "": any
	KV       string         `json:"kv_policy"`
	Lease    *float64       `json:"lease"` // seconds
	Manifest manifestParams `json:"manifest"`
}

// manifestParams are a weights.Manifest.
type manifestParams struct {
	Tensors []entryParams `json:"tensors"`
	Partial bool          `json:"partial"`
	Digest  string        `json:"digest"`
	Result  string        `json:"result"`
}

// entryParams are a weights.Entry.
type entryParams struct {
	Name   string `json:"name"`
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
	Digest string `json:"digest"`
}

// digestOf reads a digest, or the bare hexadecimal digits of a SHA-256.
func digestOf(param, s string) (weights.Digest, error) {
	if s != "" && !strings.Contains(s, ":") {
		s = weights.SHA256.String() + ":" + s
	}
	d, err := weights.ParseDigest(s)
	if err != nil {
		return d, bad(param, "is %.100q, must be sha256:, xxh3-64: or xxh3-128: and hexadecimal digits", s)
	}
	return d, nil
}

func (p *manifestParams) manifest() (m weights.Manifest, err error) {
	m = weights.Manifest{Partial: p.Partial, Tensors: make([]weights.Entry, len(p.Tensors))}
	if m.Digest, err = digestOf("manifest.digest", p.Digest); err != nil {
		return m, err
	}
	if m.Result, err = digestOf("manifest.result", p.Result); err != nil {
		return m, err
	}
	for i, t := range p.Tensors {
		m.Tensors[i] = weights.Entry{Name: t.Name, DType: t.DType, Shape: t.Shape}
		if m.Tensors[i].Digest, err = digestOf("manifest.tensors", t.Digest); err != nil {
			return m, err
		}
	}
	return m, nil
}

// options are those of the update that is asked for.
func (p *updateParams) options(m *Model) (o engine.UpdateOptions, lease time.Duration, err error) {
	o, lease = engine.UpdateOptions{Base: p.Base, Version: p.Version}, defaultLease
	if len(p.Manifest.Tensors) == 0 {
		return o, 0, bad("manifest", "has no tensors: list those that will be sent")
	}
	if p.Version == "" {
		return o, 0, bad("version", "is missing: give the new weights a name that none had before")
	}
	if p.Lease != nil {
		if lease, err = seconds("lease", *p.Lease); err != nil {
			return o, 0, err
		}
	}
	if o.Manifest, err = p.Manifest.manifest(); err == nil {
		o.KV, err = m.policy(p.KV)
	}
	return o, lease, err
}

type updateBegun struct {
	ID      string  `json:"id"`
	Version string  `json:"version"`
	Dropped string  `json:"dropped"` // to which there is no way back any more; "": none
	Lease   float64 `json:"lease"`
}

// beginUpdate answers POST /v1/weights/updates.
func (s *Server) beginUpdate(w http.ResponseWriter, r *http.Request) error {
	var p updateParams
	if err := s.strict(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	o, lease, err := p.options(m)
	if err != nil {
		return err
	}
	t, err := s.begin(m, o, lease)
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusCreated, updateBegun{t.id, o.Version, t.update.Dropped(), lease.Seconds()})
}

// transfer is the update that a route is about.
func (s *Server) transfer(r *http.Request) (*transfer, *Model, error) {
	m, err := s.strictModel(r)
	if err != nil {
		return nil, nil, err
	}
	t, err := m.trainer.transfers.find(r.PathValue("id"))
	return t, m, err
}

// tell tells of an update, with as many gaps.
func (t *transfer) tell(ctx context.Context, gaps int) (*updateTold, error) {
	told := &updateTold{ID: t.id, Version: t.options.Version, Base: t.options.Base, Missing: []gap{}, ExpiresIn: t.expiresIn().Seconds()}
	list, err := t.update.Missing(ctx)
	for _, g := range list {
		if told.Bytes += g.Bytes; len(told.Missing) < gaps {
			told.Missing = append(told.Missing, gap{g.Name, g.Offset, g.Offset + g.Bytes})
		}
	}
	return told, err
}

// showUpdate answers GET /v1/weights/updates/ID.
func (s *Server) showUpdate(w http.ResponseWriter, r *http.Request) error {
	t, _, err := s.transfer(r)
	if err != nil {
		return err
	}
	var told *updateTold
	if err := t.use(func() (err error) { told, err = t.tell(r.Context(), maxGaps); return err }); err != nil {
		return err
	}
	told.ExpiresIn = t.expiresIn().Seconds()
	return s.answer(w, http.StatusOK, told)
}

// commitUpdate answers POST /v1/weights/updates/ID/commit, when the weights are in force.
func (s *Server) commitUpdate(w http.ResponseWriter, r *http.Request) error {
	t, m, err := s.transfer(r)
	if err != nil {
		return err
	}
	told, err := t.commit(r.Context(), m)
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, told)
}

// statusAnswer says what was done.
type statusAnswer struct {
	Status string `json:"status"`
}

// abortUpdate answers DELETE /v1/weights/updates/ID with what has become of it: aborted, or
// committed, also if that was under way. One that is gone is no error.
func (s *Server) abortUpdate(w http.ResponseWriter, r *http.Request) error {
	m, err := s.strictModel(r)
	if err != nil {
		return err
	}
	t, err := m.trainer.transfers.find(r.PathValue("id"))
	if err != nil {
		return s.answer(w, http.StatusOK, statusAnswer{"gone"})
	}
	status := statusAnswer{"aborted"}
	if committed, err := t.abort(r.Context()); err != nil {
		return err
	} else if committed {
		status.Status = "committed"
	}
	return s.answer(w, http.StatusOK, status)
}
