package hub

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/cbactor/cbactor/internal/hubcache"
)

// Limits of what a hub lists.
const (
	maxPage  = 32 << 20 // bytes of an answer
	maxPages = 1000
	maxFiles = 100_000
	maxSize  = 1 << 45 // bytes of a file
)

// listing is what a revision has.
type listing struct {
	commit string
	files  map[string]hubcache.File
}

// list asks which files a revision has.
func (c *Client) list(ctx context.Context, ref hubcache.Ref) (listing, error) {
	var at struct {
		Commit string `json:"sha"`
	}
	what := ref.Repo() + " at " + ref.Revision
	if _, err := c.ask(ctx, c.address("api", "models", ref.Org, ref.Name, "revision", ref.Revision), what, &at); err != nil {
		return listing{}, err
	}
	if !isHex(at.Commit, 20) {
		return listing{}, fmt.Errorf("%w: the commit of %s is %.80q", ErrAnswer, what, at.Commit)
	}
	l := listing{commit: at.Commit, files: map[string]hubcache.File{}}
	u := c.address("api", "models", ref.Org, ref.Name, "tree", at.Commit)
	u.RawQuery = "recursive=true"
	for range maxPages {
		var page []entry
		next, err := c.ask(ctx, u, "the files of "+what, &page)
		if err == nil {
			err = l.add(page)
		}
		if err != nil || next == nil {
			return l, err
		}
		u = next
	}
	return l, fmt.Errorf("%w: its list has more than %d pages", ErrAnswer, maxPages)
}

// entry is a file or a folder of a list.
type entry struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	OID  string `json:"oid"` // as git names it
	LFS  *struct {
		OID  string `json:"oid"` // SHA-256
		Size int64  `json:"size"`
	} `json:"lfs"`
}

// file is what an entry says of a file.
func (e *entry) file() (hubcache.File, error) {
	f := hubcache.File{Size: e.Size, Digest: gitDigest + e.OID}
	ok := isHex(e.OID, 20)
	if e.LFS != nil {
		f = hubcache.File{Size: e.LFS.Size, Digest: shaDigest + e.LFS.OID}
		ok = isHex(e.LFS.OID, 32)
	}
	if !hubcache.ValidName(e.Path) {
		return f, fmt.Errorf("%w: it lists %.80q, which is no name of a file in a folder", ErrAnswer, e.Path)
	}
	if !ok || f.Size < 0 || f.Size > maxSize {
		return f, fmt.Errorf("%w: it lists %.80q with %d bytes and the digest %.80q", ErrAnswer, e.Path, f.Size, f.Digest)
	}
	return f, nil
}

// add takes a page of a list.
func (l *listing) add(page []entry) error {
	for i := range page {
		e := &page[i]
		if e.Type != "file" {
			continue
		}
		f, err := e.file()
		if err != nil {
			return err
		}
		if _, twice := l.files[e.Path]; twice {
			return fmt.Errorf("%w: it lists %.80q twice", ErrAnswer, e.Path)
		}
		if len(l.files) == maxFiles {
			return fmt.Errorf("%w: it lists more than %d files", ErrAnswer, maxFiles)
		}
		l.files[e.Path] = f
	}
	return nil
}

// ask gets JSON, and the address of the page after it, nil: it is the last one.
func (c *Client) ask(ctx context.Context, u *url.URL, what string, v any) (next *url.URL, err error) {
	err = c.again(ctx, func() (bool, error) {
		return false, c.read(ctx, u, 0, what, func(r *http.Response, body io.Reader) error {
			js, err := readAll(body, maxPage)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(js, v); err != nil {
				return fmt.Errorf("%w: %s: %w", ErrAnswer, what, err)
			}
			next, err = c.nextPage(u, r.Header.Values("Link"))
			return err
		})
	})
	return next, err
}

var nextLink = regexp.MustCompile(`<([^<>]*)>[^<>,]*;\s*rel="?next"?`)

// nextPage is the address that Link headers (RFC 8288) call next, which must be of the
// hub itself.
func (c *Client) nextPage(from *url.URL, headers []string) (*url.URL, error) {
	found := nextLink.FindStringSubmatch(strings.Join(headers, ", "))
	if found == nil {
		return nil, nil
	}
	next, err := from.Parse(found[1])
	if err != nil || !c.own(next) {
		return nil, fmt.Errorf("%w: its list goes on at %.200q", ErrAnswer, found[1])
	}
	return next, nil
}

// isHex says whether s is so many bytes as lower hexadecimal digits.
func isHex(s string, bytes int) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == bytes && s == strings.ToLower(s)
}
