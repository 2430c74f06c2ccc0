package server

import (
	"context"
	"net/http"

	"github.com/cbactor/cbactor/engine"
)

type resetParams struct {
	Model   string `json:"model"`
	Running bool   `json:"reset_running_requests"` // they are computed again; else they keep the cache from being reset
}

type resetAnswer struct {
	Success bool `json:"success"`
}

// resetCache answers POST /reset_prefix_cache. Weights that change need none: nothing that
// others have computed is taken from then on. reset_external has no effect: what the host's
// memory has of the cache goes with the rest.
func (s *Server) resetCache(w http.ResponseWriter, r *http.Request) error {
	var p resetParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	done, err := m.emptyCache(r.Context(), p.Running)
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, resetAnswer{done})
}

// emptyCache gives up what the prefix cache has, and says whether that is so: not while
// requests are open, unless these may be computed again, nor while only weights sleep, which
// it would wake.
func (m *Model) emptyCache(ctx context.Context, running bool) (done bool, err error) {
	if sleeps, asleep := m.sleeps(); sleeps {
		return asleep&engine.KV != 0, nil
	}
	if !running && m.Engine.Metrics().Open > 0 {
		return false, nil
	}
	if err := m.Engine.Sleep(ctx, engine.KV); err != nil {
		return false, err
	}
	if m.trainer.pauses.napping() != nil { // somebody has it sleep since, and will wake it
		return true, nil
	}
	return true, m.Engine.Wake(context.WithoutCancel(ctx))
}

// noCache answers routes of caches that there are none of, so that they are empty.
func (s *Server) noCache(w http.ResponseWriter, _ *http.Request) error {
	return s.answer(w, http.StatusOK, struct{}{})
}
