package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// versionTold is which weights serve, as routes that change them answer.
type versionTold struct {
	Version string  `json:"version"`
	Label   string  `json:"label"` // what answers to requests call it
	Kept    string  `json:"kept"`  // which a rollback goes back to; "": none
	Seconds float64 `json:"seconds,omitzero"`
}

// served tells what serves, behind something that took a while.
func (m *Model) served(took time.Duration) versionTold {
	version := m.Engine.Version()
	return versionTold{version, m.label(version), m.Engine.Kept(), took.Seconds()}
}

// updateTold is an update that is open.
type updateTold struct {
	ID        string  `json:"id"`
	Version   string  `json:"version"`
	Base      string  `json:"base"`
	Missing   []gap   `json:"missing,omitzero"` // the first of them; nil: not told
	Bytes     int     `json:"missing_bytes"`
	ExpiresIn float64 `json:"expires_in"` // seconds without another call
}

// gap is a part of a tensor that has not arrived: its bytes from Start on and before End.
type gap struct {
	Name  string `json:"name"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// maxGaps bounds how many gaps are told at a time.
const maxGaps = 1000

// weightsAnswer is what GET /v1/weights answers.
type weightsAnswer struct {
	versionTold
	Broken   bool          `json:"broken"` // no version serves until all weights were sent
	Open     *updateTold   `json:"open"`
	Adapters []adapterTold `json:"adapters"`
}

// showWeights answers GET /v1/weights.
func (s *Server) showWeights(w http.ResponseWriter, r *http.Request) error {
	m, err := s.strictModel(r)
	if err != nil {
		return err
	}
	answer := weightsAnswer{versionTold: m.served(0), Adapters: m.adapters()}
	answer.Broken = answer.Version == "" && m.Engine.Running()
	if t := m.trainer.transfers.open(); t != nil {
		told, err := t.tell(r.Context(), 0)
		if err != nil && t.ended() == nil {
			return err
		}
		if err == nil {
			told.Missing = nil
			answer.Open = told
		}
	}
	return s.answer(w, http.StatusOK, answer)
}

type rollbackParams struct {
	Model   string `json:"model"`
	Version string `json:"version"` // or its label; "": the one that is kept
	KV      string `json:"kv_policy"`
}

// rollback answers POST /v1/weights/rollback.
func (s *Server) rollback(w http.ResponseWriter, r *http.Request) error {
	var p rollbackParams
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
	version := m.Engine.Kept()
	switch {
	case p.Version != "" && p.Version != version && p.Version != m.label(version):
		version = m.version(p.Version)
	case version == "":
		return fmt.Errorf("%w: none is kept to go back to", weights.ErrVersion)
	}
	begun := time.Now()
	if err := m.Engine.Rollback(r.Context(), version, kv); err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, m.served(time.Since(begun)))
}

// policy is what an update does to requests that have begun: what its parameter kv_policy says,
// else whoever holds a pause and has said it, else it keeps their caches.
func (m *Model) policy(name string) (engine.KVPolicy, error) {
	kv, err := policyOf("kv_policy", name)
	if err == nil && name == "" && m.trainer.pauses.fresh() {
		kv = engine.KVRecompute
	}
	return kv, err
}

type checksumParams struct {
	Model string `json:"model"`
	Kind  string `json:"kind"` // of the digest
}

type checksumAnswer struct {
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Digest  string `json:"digest"` // with the kind before it, as manifests have it
}

// checksum answers GET /v1/weights/checksum.
func (s *Server) checksum(w http.ResponseWriter, r *http.Request) error {
	var p checksumParams
	if err := strictQuery(r.URL.Query(), &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	kind := weights.SHA256
	if p.Kind != "" {
		if kind, err = weights.ParseKind(p.Kind); err != nil {
			return bad("kind", "is %.40q, must be sha256, xxh3-64 or xxh3-128", p.Kind)
		}
	}
	version, digest, err := m.Engine.Checksum(r.Context(), kind)
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, checksumAnswer{version, kind.String(), digest.String()})
}

// changesEvery is how often it is looked whether other weights serve.
const changesEvery = 20 * time.Millisecond

// maxChanges is the longest that a call waits for other weights.
const maxChanges = 300 * time.Second

type changesParams struct {
	Model   string   `json:"model"`
	After   string   `json:"after"`   // version, or its label; "": that of now
	Timeout *float64 `json:"timeout"` // seconds; nil: 60
}

// changes answers GET /v1/weights/changes: when other weights serve, or after a time with 204.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) error {
	var p changesParams
	if err := strictQuery(r.URL.Query(), &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	seconds := *or(p.Timeout, 60)
	if !(seconds >= 0 && seconds <= maxChanges.Seconds()) {
		return bad("timeout", "is %g seconds, must be from 0 to %g", seconds, maxChanges.Seconds())
	}
	select {
	case s.watchers <- struct{}{}:
		defer func() { <-s.watchers }()
	default:
		return errWatchers
	}
	after := m.Engine.Version()
	if p.After != "" {
		after = m.version(p.After)
	}
	look, end := time.NewTicker(changesEvery), time.NewTimer(time.Duration(seconds*float64(time.Second)))
	defer look.Stop()
	defer end.Stop()
	for {
		if version := m.Engine.Version(); version != "" && version != after { // "": broken ones do not serve
			return s.answer(w, http.StatusOK, m.served(0))
		}
		select {
		case <-look.C:
		case <-end.C:
			err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.limits.Patience))
			w.WriteHeader(http.StatusNoContent)
			return err
		case <-s.draining:
			return errShutdown
		case <-r.Context().Done():
			return context.Cause(r.Context())
		}
	}
}
