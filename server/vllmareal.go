package server

import (
	"net/http"
	"slices"

	"github.com/cbactor/cbactor/engine"
)

// arealParams are what routes of AReaL's server take.
type arealParams struct {
	Model  string `json:"model"`
	Path   string `json:"model_path"`
	Format string `json:"load_format"`
	Abort  bool   `json:"abort_all_requests"` // they are in any case, as there
}

// arealPause answers POST /areal_pause_generation: what is open is aborted, and what is new
// waits.
func (s *Server) arealPause(w http.ResponseWriter, r *http.Request) error {
	var p arealParams
	if err := s.asked(w, r, &p, &p.Model, func(m *Model) error {
		_, err := s.pause(r.Context(), m, pauseOptions{mode: engine.PauseAbort, fresh: true})
		return err
	}); err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, sglangDone{true, "generation is paused, and what was open is aborted"})
}

// arealContinue answers POST /areal_continue_generation.
func (s *Server) arealContinue(w http.ResponseWriter, r *http.Request) error {
	var p arealParams
	return s.asked(w, r, &p, &p.Model, func(m *Model) error {
		if err := s.resume(m, ""); err != nil {
			return err
		}
		return s.answer(w, http.StatusOK, sglangDone{true, m.goesOn()})
	})
}

// arealUpdate answers POST /areal_update_weights. The weights are called as their folder is, with a number where that has served.
func (s *Server) arealUpdate(w http.ResponseWriter, r *http.Request) error {
	var p arealParams
	if err := s.asked(w, r, &p, &p.Model, func(m *Model) error {
		if !slices.Contains(diskFormats, p.Format) {
			return bad("load_format", "is %.40q, must be auto or safetensors", p.Format)
		}
		_, err := s.loadLabelled(r.Context(), m, loadOptions{param: "model_path", path: p.Path, kv: engine.KVAbort})
		return err
	}); err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, sglangDone{true, "the weights are loaded"})
}
