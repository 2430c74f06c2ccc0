package server

import (
	"context"
	"net/http"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// sglangDone is how SGLang's routes say that something was done, or was not.
type sglangDone struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// sglangModes are SGLang's modes of a pause. New requests wait in all of them.
var sglangModes = map[string]pauseOptions{
	"":         {mode: engine.PauseAbort, fresh: true},
	"abort":    {mode: engine.PauseAbort, fresh: true},
	"retract":  {mode: engine.PauseKeep, fresh: true},
	"in_place": {mode: engine.PauseKeep},
}

type sglangPauseParams struct {
	Model string `json:"model"`
	Mode  string `json:"mode"`
}

// sglangPause answers POST /pause_generation.
func (s *Server) sglangPause(w http.ResponseWriter, r *http.Request) error {
	var p sglangPauseParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	o, known := sglangModes[p.Mode]
	if !known {
		return bad("mode", "is %.40q, must be abort, retract or in_place", p.Mode)
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	if _, err := s.pause(r.Context(), m, o); err != nil {
		return err
	}
	return s.sglangOK(w, "generation is paused")
}

// sglangContinue answers POST /continue_generation.
func (s *Server) sglangContinue(w http.ResponseWriter, r *http.Request) error {
	var p modelParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	if err := s.resume(m, ""); err != nil {
		return err
	}
	return s.sglangOK(w, m.goesOn())
}

// goesOn tells what a pause that is released has led to.
func (m *Model) goesOn() string {
	switch rests, holds := m.paused(); {
	case holds > 0:
		return "the pause is released, and others hold one"
	case rests:
		return "the pause is released"
	}
	return "generation goes on"
}

type sglangState struct {
	Message string `json:"message"`
	Status  string `json:"status"`
}

func (s *Server) sglangOK(w http.ResponseWriter, message string) error {
	return s.answer(w, http.StatusOK, sglangState{message, "ok"})
}

// flushEvery is how long flushCache rests before it looks again whether something is open.
const flushEvery = 20 * time.Millisecond

type flushParams struct {
	Model   string  `json:"model"`
	Timeout float64 `json:"timeout"` // seconds to wait for what is open
}

// flushCache answers GET and POST /flush_cache, which clients also ask to learn whether
// anything is open.
func (s *Server) flushCache(w http.ResponseWriter, r *http.Request) error {
	var p flushParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	if !(p.Timeout >= 0 && p.Timeout <= maxSeconds) {
		return bad("timeout", "is %g seconds, must be from 0 to %d", p.Timeout, maxSeconds)
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	done, err := m.flush(r.Context(), time.Duration(p.Timeout*float64(time.Second)))
	switch {
	case err != nil:
		return err
	case !done:
		return s.answer(w, http.StatusBadRequest, sglangDone{false, "requests are open: wait for them, or pause with the mode abort or retract"})
	}
	return s.answer(w, http.StatusOK, sglangDone{true, "the cache is flushed"})
}

// flush empties the prefix cache once nothing needs what it has, and says whether that came
// within patience.
func (m *Model) flush(ctx context.Context, patience time.Duration) (done bool, err error) {
	for end := time.Now().Add(patience); ; {
		done, err = m.emptyCache(ctx, m.flushable())
		if done || err != nil || !time.Now().Before(end) {
			return done, err
		}
		select {
		case <-time.After(flushEvery):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// flushable tells whether requests that are open may have their caches taken: under a pause
// that says so, and in any where all of them wait for their first step.
func (m *Model) flushable() bool {
	h := m.trainer.pauses.find("")
	return h != nil && (h.options.fresh || m.Engine.Metrics().Running == 0)
}

type sglangAbortParams struct {
	RID string `json:"rid"`
	All bool   `json:"abort_all"`
}

// sglangAbort answers POST /abort_request. A rid that nobody has is no error.
func (s *Server) sglangAbort(w http.ResponseWriter, r *http.Request) error {
	var p sglangAbortParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	switch {
	case p.All:
		s.open.abort(nil, nil)
	case p.RID != "":
		s.open.abort(nil, []string{p.RID})
		for i := range s.models {
			s.models[i].Engine.Cancel(p.RID) // one of several prompts of a call
		}
	}
	return s.answer(w, http.StatusOK, struct{}{})
}
