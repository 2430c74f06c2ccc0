package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// open are the paths that ask for no key, spelled so alone: the guard stands before all
// that makes other spellings of them.
var open = map[string]bool{"/health": true, "/version": true}

var (
	errKey   = &refusal{http.StatusUnauthorized, "the API key is missing or wrong: send Authorization: Bearer KEY", "", "invalid_api_key"}
	errToken = &refusal{http.StatusUnauthorized, "this route is for administrators, whose token is missing or wrong: send Authorization: Bearer TOKEN", "", "invalid_admin_token"}
	errLocal = &refusal{http.StatusForbidden, "this route is for administrators, and without an admin token answers programs of this machine alone: give the server one", "", "admin_only"}
)

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

// guarded lets through who shows the API key, or the admin token.
func (s *Server) guarded(next http.Handler) http.Handler {
	if !s.key.set {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !open[r.URL.Path] && !s.key.shown(r) && !s.token.shown(r) {
			s.unauthorized(w, errKey)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// administered lets through who shows the admin token; without one, programs of this
// machine, which is no web page that a browser of it has open, and nobody behind a proxy.
func (s *Server) administered(next http.Handler) http.Handler {
	var pages http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.token.set && !s.token.shown(r):
			s.unauthorized(w, errToken)
		case !s.token.set && (!local(r) || pages.Check(r) != nil || elsewhere(r)):
			s.refuse(w, errLocal)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (s *Server) unauthorized(w http.ResponseWriter, why *refusal) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	s.refuse(w, why)
}

// elsewhere says whether a page of another site has a browser send a request: some routes of
// administrators change something on GET, which http.CrossOriginProtection takes to be safe.
func elsewhere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// local says whether a request comes from this machine, and was meant for it: a name that
// leads here for a moment may be anybody's. A proxy of this machine that sends none of these
// headers cannot be told from its other programs.
func local(r *http.Request) bool {
	for name := range r.Header { // of proxies
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return false
		}
	}
	return loopback(r.RemoteAddr) && loopback(r.Host)
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
