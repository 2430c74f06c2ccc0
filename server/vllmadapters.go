package server

import (
	"fmt"
	"net/http"
)

// vllmAdapterParams are what routes of adapters take. lora_int_id has no effect in vLLM
// either.
type vllmAdapterParams struct {
	Model   string `json:"model"`
	Name    string `json:"lora_name"`
	Path    string `json:"lora_path"`
	InPlace bool   `json:"load_inplace"`
	Stacked bool   `json:"is_3d_lora_weight"`
}

// vllmLoadAdapter answers POST /v1/load_lora_adapter.
func (s *Server) vllmLoadAdapter(w http.ResponseWriter, r *http.Request) error {
	var p vllmAdapterParams
	return s.asked(w, r, &p, &p.Model, func(m *Model) error {
		switch {
		case p.InPlace:
			return bad("load_inplace", "is true, and the name of an adapter is never another's here: give each its own, such as with a number behind it")
		case p.Stacked:
			return bad("is_3d_lora_weight", "is true, and adapters of experts are not supported: leave it out")
		}
		if err := s.adapterName("lora_name", p.Name); err != nil {
			return err
		}
		if err := s.loadAdapter(r.Context(), m, p.Name, "lora_path", p.Path); err != nil {
			return err
		}
		return s.say(w, fmt.Sprintf("the adapter %q is loaded", p.Name))
	})
}

// vllmUnloadAdapter answers POST /v1/unload_lora_adapter.
func (s *Server) vllmUnloadAdapter(w http.ResponseWriter, r *http.Request) error {
	var p vllmAdapterParams
	return s.asked(w, r, &p, &p.Model, func(m *Model) error {
		how, err := m.unloadSoon(r.Context(), p.Name)
		if err != nil {
			return err
		}
		return s.say(w, fmt.Sprintf("the adapter %q %s", p.Name, how))
	})
}

// say answers that something was done.
func (s *Server) say(w http.ResponseWriter, message string) error {
	return s.answer(w, http.StatusOK, vllmDone{message, "ok"})
}
