package hubcache

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// MainRevision is the revision of who names none.
const MainRevision = "main"

// Ref names a model of a hub, or one file of it.
type Ref struct {
	Org, Name string
	Revision  string // a branch, a tag or a commit
	File      string // "": all that a model needs
}

// repo is how a hub names what it has: two names of letters, digits, _ - and dots.
var repo = regexp.MustCompile(`^([A-Za-z0-9_][\w.-]{0,95})/([A-Za-z0-9_][\w.-]{0,95})$`)

// ParseRef reads ORG/NAME[@REVISION][:FILE]; false: it is none.
func ParseRef(s string) (Ref, bool) {
	s, file, named := strings.Cut(s, ":")
	s, revision, revised := strings.Cut(s, "@")
	parts := repo.FindStringSubmatch(s)
	if parts == nil || strings.Contains(s, "..") || named && file == "" || revised && !validRevision(revision) {
		return Ref{}, false
	}
	r := Ref{Org: parts[1], Name: parts[2], Revision: MainRevision, File: file}
	if revised {
		r.Revision = revision
	}
	return r, true
}

// validRevision tells what can be a revision from what would be another address.
func validRevision(s string) bool {
	const limit = 255
	return s != "" && s != "." && len(s) <= limit && !strings.Contains(s, "..") && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' })
}

// WithRevision is r at another revision; false: it can be none.
func (r Ref) WithRevision(revision string) (Ref, bool) {
	r.Revision = revision
	return r, validRevision(revision)
}

// Repo is ORG/NAME.
func (r Ref) Repo() string { return r.Org + "/" + r.Name }

// String is the name as ParseRef reads it.
func (r Ref) String() string {
	s := r.Repo()
	if r.Revision != MainRevision {
		s += "@" + r.Revision
	}
	if r.File != "" {
		s += ":" + r.File
	}
	return s
}

// Dir is the folder of a copy within the cache.
func (r Ref) Dir(cache string) string {
	return filepath.Join(cache, "hub", r.Org, r.Name, url.PathEscape(r.Revision))
}
