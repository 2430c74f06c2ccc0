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
	return s.areal(w, r, "generation is paused, and what was open is aborted", func(m *Model, _ *arealParams) error {
		_, err := s.pause(r.Context(), m, pauseOptions{mode: engine.PauseAbort, fresh: true})
		return err
	})
}

// arealContinue answers POST /areal_continue_generation.
func (s *Server) arealContinue(w http.ResponseWriter, r *http.Request) error {
	return s.areal(w, r, "generation goes on", func(m *Model, _ *arealParams) error { return s.resume(m, "") })
}

// arealUpdate answers POST /areal_update_weights. The weights are called as their folder is, with a number where that has served.
func (s *Server) arealUpdate(w http.ResponseWriter, r *http.Request) error {
	return s.areal(w, r, "the weights are loaded", func(m *Model, p *arealParams) error {
		if !slices.Contains(diskFormats, p.Format) {
			return bad("load_format", "is %.40q, must be auto or safetensors", p.Format)
		}
		_, err := s.loadLabelled(r.Context(), m, loadOptions{param: "model_path", path: p.Path, kv: engine.KVAbort})
		return err
	})
}

// areal does something with a model, and says so as AReaL's server would.
func (s *Server) areal(w http.ResponseWriter, r *http.Request, message string, do func(*Model, *arealParams) error) error {
	var p arealParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err == nil {
		err = do(m, &p)
	}
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, sglangDone{true, message})
}
