package server

import (
	"net/http"
	"slices"

	"github.com/cbactor/cbactor/engine"
)

// memoryParams are what routes of memory take.
type memoryParams struct {
	Model string   `json:"model"`
	Tags  []string `json:"tags"` // missing: all
}

// parts are the parts of memory that are meant. There are no graphs that take any.
func (p *memoryParams) parts() (engine.Part, error) {
	if len(p.Tags) == 0 {
		return engine.KV | engine.Weights, nil
	}
	return partsOf(slices.DeleteFunc(p.Tags, func(tag string) bool { return tag == "cuda_graph" }))
}

// memory reads what such a route is asked for.
func (s *Server) memory(w http.ResponseWriter, r *http.Request) (*Model, engine.Part, error) {
	var p memoryParams
	if err := s.parameters(w, r, &p); err != nil {
		return nil, 0, err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return nil, 0, err
	}
	parts, err := p.parts()
	return m, parts, err
}

// releaseMemory answers GET and POST /release_memory_occupation. What is open is kept, to be
// computed again, and what comes waits.
func (s *Server) releaseMemory(w http.ResponseWriter, r *http.Request) error {
	m, parts, err := s.memory(w, r)
	if err != nil {
		return err
	}
	if err := s.sleep(r.Context(), m, parts, pauseOptions{mode: engine.PauseKeep}); err != nil {
		return err
	}
	_, asleep := m.sleeps()
	return s.answer(w, http.StatusOK, sleepAnswer{Status: "sleeping", Asleep: tagsOf(asleep)})
}

// resumeMemory answers GET and POST /resume_memory_occupation.
func (s *Server) resumeMemory(w http.ResponseWriter, r *http.Request) error {
	m, parts, err := s.memory(w, r)
	if err != nil {
		return err
	}
	sleeps, err := s.wake(r.Context(), m, parts)
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, awake(m, sleeps))
}
