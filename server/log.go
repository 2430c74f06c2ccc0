package server

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"time"
)

// named gives each request an id, by which it is found in the log, and logs how it went.
func (s *Server) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, seen := time.Now(), &witness{ResponseWriter: w}
		id, err := requestID(r)
		w.Header().Set("X-Request-Id", id)
		defer func() {
			s.log.Info().Str("request", id).Str("method", r.Method).Str("path", r.URL.Path).Int("status", seen.status).
				Bool("gone", r.Context().Err() != nil).Dur("took", time.Since(begun)).Msg("answered")
		}()
		if err != nil {
			s.refuse(seen, refusalOf(err, ""))
			return
		}
		defer s.survive(seen, id)
		if err := http.NewResponseController(w).SetWriteDeadline(begun.Add(s.limits.Patience)); err != nil { // that of the answer before would hold still
			s.refuse(seen, refusalOf(err, ""))
			return
		}
		next.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), idKey{}, id)))
	})
}

// survive has a handler that panics cost its own call an error, and nobody else anything.
func (s *Server) survive(w *witness, id string) {
	p := recover()
	if p == nil {
		return
	}
	s.log.Error().Str("request", id).Any("panic", p).Msg("a handler panicked")
	if w.status != 0 {
		panic(http.ErrAbortHandler) // cuts the connection, as what was written is not whole
	}
	s.refuse(w, &refusal{http.StatusInternalServerError, "the server made a mistake, which is in its log", "", "internal_error"})
}

// witness notes the status of an answer.
type witness struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *witness) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *witness) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// idKey is under which the context of a request has its id.
type idKey struct{}

// idOf is the id of a request.
func idOf(r *http.Request) string { return r.Context().Value(idKey{}).(string) }

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
