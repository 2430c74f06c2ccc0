package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// named gives each request an id, by which it is found in the log, and tells how it went.
func (s *Server) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := requestID(r)
		a := &account{id: id, begun: time.Now()}
		seen := &witness{ResponseWriter: w, account: a}
		w.Header().Set("X-Request-Id", id)
		r = r.WithContext(context.WithValue(r.Context(), accountKey{}, a))
		defer func() {
			s.held.Add(-a.held)
			s.tell(r, seen)
		}()
		if err != nil {
			s.refuse(seen, refusalOf(err, ""))
			return
		}
		defer s.survive(seen)
		if err := http.NewResponseController(w).SetWriteDeadline(a.begun.Add(s.limits.Patience)); err != nil { // that of the answer before would hold still
			s.refuse(seen, refusalOf(err, ""))
			return
		}
		next.ServeHTTP(seen, r)
	})
}

// survive has a handler that panics cost its own call an error, and nobody else anything.
func (s *Server) survive(w *witness) {
	p := recover()
	if p == nil {
		return
	}
	s.log.Error().Str("request", w.account.id).Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg("a handler panicked")
	if w.status != 0 {
		panic(http.ErrAbortHandler) // cuts the connection, as what was written is not whole
	}
	s.refuse(w, &refusal{http.StatusInternalServerError, "the server made a mistake, which is in its log", "", "internal_error"})
}

// tell tells of a request that was answered, or that nobody waits for any more.
func (s *Server) tell(r *http.Request, w *witness) {
	a := w.account
	s.meters.count(a, w.status)
	a.endSpan(w.status)
	level := zerolog.InfoLevel
	switch {
	case w.status >= http.StatusInternalServerError:
		level = zerolog.WarnLevel
	case w.status < http.StatusBadRequest && quiet[a.route]:
		level = zerolog.DebugLevel
	}
	line := s.log.WithLevel(level)
	if level < s.log.GetLevel() || line == nil { // WithLevel asks nobody
		return
	}
	line.Str("request", a.id).Str("method", r.Method).Str("route", a.route).Int("status", w.status)
	if f := a.failed; f != nil {
		line.Str("code", f.code)
		if f.status >= http.StatusInternalServerError { // others have words of the request
			line.Str("error", f.message)
		}
	}
	if a.model != "" {
		a.tell(line)
	}
	line.Bool("gone", r.Context().Err() != nil).Float64("total_ms", milliseconds(time.Since(a.begun))).Msg("answered")
}

// quiet are routes that are asked again and again by who watches the process.
var quiet = map[string]bool{"/health": true, "/ready": true, metricsPath: true}

// tell adds to a line of the log what was generated.
func (a *account) tell(line *zerolog.Event) {
	line.Str("model", a.model).Int("prompt_tokens", a.usage.Prompt).Int("cached_tokens", a.usage.Details.Cached).Int("completion_tokens", a.usage.Completion)
	if first, is := since(a.begun, a.timing.First); is {
		line.Float64("first_token_ms", milliseconds(first))
	}
	if a.sequences > 0 {
		line.Any("finish_reasons", a.finishes).Strs("weight_versions", a.versions)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// witness notes the status of an answer.
type witness struct {
	http.ResponseWriter
	account *account
	status  int
}

// WriteHeader implements http.ResponseWriter.
func (w *witness) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *witness) Write(p []byte) (int, error) {
	if w.status == 0 { // as net/http has it
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *witness) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// idOf is the id of a request.
func idOf(r *http.Request) string { return accountOf(r).id }

// requestID is the id that a client gives its request, which no other open one may have, or
// a random one.
func requestID(r *http.Request) (string, error) {
	id, random := r.Header.Get("X-Request-Id"), strings.ToLower(rand.Text())
	if id == "" {
		return random, nil
	}
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.:", c)
	}
	if len(id) > maxName || strings.ContainsFunc(id, odd) {
		return random, &refusal{http.StatusBadRequest, "X-Request-Id must be letters, digits and -_.: and at most 128 of them", "", "invalid_value"}
	}
	return id, nil
}
