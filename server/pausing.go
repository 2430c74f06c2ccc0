package server

import (
	"net/http"

	"github.com/cbactor/cbactor/engine"
)

// pauseParams are what POST /pause takes, in its address or in its body.
type pauseParams struct {
	Model  string   `json:"model"`
	Mode   string   `json:"mode"`        // "abort" if it is missing, as vLLM has it
	Clear  *bool    `json:"clear_cache"` // nil: true, likewise
	Lease  *float64 `json:"lease"`       // seconds
	Hold   string   `json:"hold"`
	Refuse *bool    `json:"refuse"` // nil: unless mode is "keep"
}

// pauseAnswer is what it answers.
type pauseAnswer struct {
	Status string  `json:"status"`
	Hold   *string `json:"hold"` // of a hold with a lease
	Holds  int     `json:"holds"`
}

// pauseModes are the modes by vLLM's names.
var pauseModes = map[string]engine.PauseMode{"": engine.PauseAbort, "abort": engine.PauseAbort, "wait": engine.PauseWait, "keep": engine.PauseKeep}

// options checks what is asked for.
func (p *pauseParams) options() (o pauseOptions, err error) {
	mode, known := pauseModes[p.Mode]
	if !known {
		return o, bad("mode", "is %.40q, must be abort, wait or keep", p.Mode)
	}
	o = pauseOptions{mode: mode, refuse: mode != engine.PauseKeep, fresh: true}
	if p.Refuse != nil {
		o.refuse = *p.Refuse
	}
	if p.Clear != nil {
		o.fresh = *p.Clear
	}
	if p.Lease != nil {
		o.lease, err = seconds("lease", *p.Lease)
	}
	return o, err
}

// pausing answers POST /pause. With hold it renews that one's lease.
func (s *Server) pausing(w http.ResponseWriter, r *http.Request) error {
	var p pauseParams
	if err := s.strict(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	if p.Hold != "" {
		if p.Mode != "" || p.Clear != nil || p.Lease != nil || p.Refuse != nil {
			return bad("hold", "is renewed as it was taken: leave mode, clear_cache, lease and refuse out")
		}
		err = s.renew(m, p.Hold)
	} else if o, bad := p.options(); bad != nil {
		return bad
	} else {
		p.Hold, err = s.pause(r.Context(), m, o)
	}
	if err != nil {
		return err
	}
	answer := pauseAnswer{Status: "paused"}
	if p.Hold != "" {
		answer.Hold = &p.Hold
	}
	_, answer.Holds = m.paused()
	return s.answer(w, http.StatusOK, answer)
}

// resumeParams are what POST /resume takes, likewise.
type resumeParams struct {
	Model string `json:"model"`
	Hold  string `json:"hold"` // "": the one without a lease
}

type resumeAnswer struct {
	Status string `json:"status"` // "paused" while others hold it
	Holds  int    `json:"holds"`
}

type pausedAnswer struct {
	Paused bool `json:"is_paused"`
	Holds  int  `json:"holds"`
}

// resuming answers POST /resume.
func (s *Server) resuming(w http.ResponseWriter, r *http.Request) error {
	var p resumeParams
	if err := s.strict(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	if err := s.resume(m, p.Hold); err != nil {
		return err
	}
	answer := resumeAnswer{Status: "resumed"}
	rests, holds := m.paused()
	if answer.Holds = holds; rests {
		answer.Status = "paused"
	}
	return s.answer(w, http.StatusOK, answer)
}

// isPaused answers GET /is_paused.
func (s *Server) isPaused(w http.ResponseWriter, r *http.Request) error {
	m, _, err := s.find(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	rests, holds := m.paused()
	return s.answer(w, http.StatusOK, pausedAnswer{rests, holds})
}
