package server

import (
	"fmt"
	"net/http"

	"github.com/cbactor/cbactor/engine"
)

// maxLabel bounds what a version is called, in bytes, as an engine bounds its name.
const maxLabel = 256

type weightAnswer struct {
	Version string `json:"weight_version"`
}

// weightInfo answers GET /weight_info.
func (s *Server) weightInfo(w http.ResponseWriter, r *http.Request) error {
	m, _, err := s.find(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, weightAnswer{m.label(m.Engine.Version())})
}

type renameParams struct {
	Model string `json:"model"`
	To    string `json:"new_version"`
	Abort bool   `json:"abort_all_requests"`
}

type renamed struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Version string `json:"new_version"`
}

// renameVersion answers POST /update_weight_version: the weights that serve are called
// otherwise from then on. SGLang's abort_all_requests is taken, but not its default, which
// ends all that is open.
func (s *Server) renameVersion(w http.ResponseWriter, r *http.Request) error {
	var p renameParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	if p.To == "" || len(p.To) > maxLabel {
		return bad("new_version", "has %d bytes, must have 1 to %d", len(p.To), maxLabel)
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	version := m.Engine.Version()
	if version == "" {
		return engine.ErrNoWeights
	}
	m.trainer.labels.set(version, p.To)
	if p.Abort {
		s.open.abort(m, nil)
	}
	return s.answer(w, http.StatusOK, renamed{true, fmt.Sprintf("the weights are called %q", p.To), p.To})
}
