package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// open are the paths that ask for no key, spelled so alone: the guard stands before all
// that makes other spellings of them.
var open = map[string]bool{"/health": true, "/version": true}

var errKey = &refusal{http.StatusUnauthorized, "the API key is missing or wrong: send Authorization: Bearer KEY", "", "invalid_api_key"}

// guarded lets through who shows the key. Hashes are compared, so that the time tells
// nothing of it, not its length either.
func (s *Server) guarded(next http.Handler) http.Handler {
	if s.options.APIKey == "" {
		return next
	}
	want := sha256.Sum256([]byte(s.options.APIKey))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !open[r.URL.Path] {
			got := sha256.Sum256([]byte(bearer(r)))
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
				w.Header().Set("WWW-Authenticate", "Bearer")
				s.refuse(w, errKey)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// bearer is the key that a request shows.
func bearer(r *http.Request) string {
	kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") {
		return ""
	}
	return key
}
