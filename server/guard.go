package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
)

// open are the paths that ask for no key, spelled so alone: the guard stands before all
// that makes other spellings of them.
var open = map[string]bool{"/health": true, "/version": true}

var (
	errKey   = &refusal{http.StatusUnauthorized, "the API key is missing or wrong: send Authorization: Bearer KEY", "", "invalid_api_key"}
	errToken = &refusal{http.StatusUnauthorized, "this route is for administrators, whose token is missing or wrong: send Authorization: Bearer TOKEN", "", "invalid_admin_token"}
)

// errElsewhere refuses a request that is not of this machine, and says what shows it.
func errElsewhere(why string) *refusal {
	return &refusal{http.StatusForbidden, "this route is for administrators, and without an admin token answers programs of this machine alone: " + why + " (--admin-token-file lets who shows the token in from anywhere)", "", "admin_only"}
}

// secret is a key as it is compared: its hash, so that the time tells nothing of it, not
// its length either. The zero one is nobody's.
type secret struct {
	set  bool
	hash [sha256.Size]byte
}

func newSecret(key string) secret { return secret{key != "", sha256.Sum256([]byte(key))} }

// shown says whether a request shows the secret.
func (k secret) shown(r *http.Request) bool {
	got := sha256.Sum256([]byte(bearer(r)))
	return k.set && subtle.ConstantTimeCompare(got[:], k.hash[:]) == 1
}

// guarded lets through who shows the API key, or the admin token; why refuses others.
func (s *Server) guarded(next http.Handler, why *refusal) http.Handler {
	if !s.key.set {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !open[r.URL.Path] && !s.key.shown(r) && !s.token.shown(r) {
			s.unauthorized(w, why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// administered lets through who shows the admin token; without one, programs of this
// machine, which is no web page that a browser of it has open, and nobody behind a proxy.
func (s *Server) administered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		why := ""
		if !s.token.set {
			why = stranger(r)
		}
		switch {
		case s.token.set && !s.token.shown(r):
			s.unauthorized(w, errToken)
		case why != "":
			s.refuse(w, errElsewhere(why))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (s *Server) unauthorized(w http.ResponseWriter, why *refusal) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	s.refuse(w, why)
}

// stranger says what shows that a request does not come from a program of this machine, or was
// not meant for it; "": nothing does. A name that leads here for a moment may be anybody's, and
// some routes of administrators change something on GET, which http.CrossOriginProtection takes
// to be safe. A proxy of this machine that sends none of its headers cannot be told from others
// of its programs.
func stranger(r *http.Request) string {
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return fmt.Sprintf("the header %.80s shows a proxy", name)
		}
	}
	var pages http.CrossOriginProtection
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case !loopback(r.RemoteAddr):
		return "it comes from another address"
	case !loopback(r.Host):
		return fmt.Sprintf("the header Host is %.80q, which is no address of this machine alone", r.Host)
	case site == "cross-site" || site == "same-site" || site != "" && pages.Check(r) != nil:
		return fmt.Sprintf("the header Sec-Fetch-Site is %.40q, as of a page of another site", site)
	case pages.Check(r) != nil:
		return fmt.Sprintf("the header Origin is %.80q, a page of another site", r.Header.Get("Origin"))
	}
	return ""
}

// loopback says whether an address, with or without a port, is of this machine alone.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || host == "localhost"
}

// bearer is the key that a request shows.
func bearer(r *http.Request) string {
	kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") {
		return ""
	}
	return key
}
