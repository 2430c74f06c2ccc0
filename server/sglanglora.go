package server

import "net/http"

// loraParams are what SGLang's routes of adapters take. pinned has no effect: an adapter that
// is loaded stays in its place.
type loraParams struct {
	Model string `json:"model"`
	Name  string `json:"lora_name"`
	Path  string `json:"lora_path"`
}

// loraAnswer is what they answer.
type loraAnswer struct {
	Success bool              `json:"success"`
	Error   string            `json:"error_message"`
	Loaded  map[string]string `json:"loaded_adapters"` // their names, by which requests ask for them
}

// sglangLoadAdapter answers POST /load_lora_adapter.
func (s *Server) sglangLoadAdapter(w http.ResponseWriter, r *http.Request) error {
	var p loraParams
	return s.lora(w, r, &p, func(m *Model) error {
		if err := s.adapterName("lora_name", p.Name); err != nil {
			return err
		}
		return s.loadAdapter(r.Context(), m, p.Name, "lora_path", p.Path)
	})
}

// sglangUnloadAdapter answers POST /unload_lora_adapter.
func (s *Server) sglangUnloadAdapter(w http.ResponseWriter, r *http.Request) error {
	var p loraParams
	return s.lora(w, r, &p, func(m *Model) error {
		_, err := m.unloadSoon(r.Context(), p.Name)
		return err
	})
}

// lora does what a route of adapters is for, and answers with those that are loaded then.
func (s *Server) lora(w http.ResponseWriter, r *http.Request, p *loraParams, do func(*Model) error) error {
	var m *Model
	err := s.asked(w, r, p, &p.Model, func(of *Model) error {
		if m = of; p.Name == "" {
			return bad("lora_name", "is missing: give the adapter's name")
		}
		return do(m)
	})
	answer, status := loraAnswer{Success: err == nil, Loaded: map[string]string{}}, http.StatusOK
	if err != nil {
		status, answer.Error = sglangStatus(w, err)
	}
	if m != nil {
		for _, a := range m.Engine.Adapters() {
			answer.Loaded[a.Name] = a.Name
		}
	}
	return s.answer(w, status, answer)
}
