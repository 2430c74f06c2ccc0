package server

import (
	"net/http"
)

// condition is what /health and /ready tell.
type condition struct {
	Status string            `json:"status"`
	Models map[string]string `json:"models"` // what the engine of each does
}

// condition asks the engines: "ok", "paused" if any rests, or "stopped" if one does not run.
func (s *Server) condition() condition {
	c := condition{Status: "ok", Models: make(map[string]string, len(s.models))}
	for _, m := range s.models {
		mode := m.Engine.Status().Mode
		c.Models[m.Name] = mode
		switch {
		case !m.Engine.Running():
			c.Status = "stopped"
		case c.Status == "ok" && (mode == "paused" || mode == "pausing" || mode == "sleeping"):
			c.Status = "paused"
		}
	}
	return c
}

// health answers GET /health: whether to leave the process alone. A pause is no illness.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	c := s.condition()
	status := http.StatusOK
	if c.Status == "stopped" {
		status = http.StatusServiceUnavailable
	}
	return s.answer(w, status, c)
}

// ready answers GET /ready: whether to send calls here.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	c := s.condition()
	select {
	case <-s.draining:
		c.Status = "draining"
	default:
	}
	if c.Status == "ok" || c.Status == "paused" {
		return s.answer(w, http.StatusOK, c)
	}
	return s.answer(w, http.StatusServiceUnavailable, c)
}

type programVersion struct {
	Version string `json:"version"`
}

// version answers GET /version.
func (s *Server) version(w http.ResponseWriter, _ *http.Request) error {
	return s.answer(w, http.StatusOK, programVersion{s.options.Version})
}
