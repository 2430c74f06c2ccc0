package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/cbactor/cbactor/internal/hubcache"
)

// fetching is a file that is fetched.
type fetching struct {
	client  *Client
	address *url.URL
	name    string
	want    hubcache.File
	add     func(bytes int) // is told of what comes, once of each byte of the file
}

// run gets the file, going on with what is there of it in a folder, and puts it to path.
func (f *fetching) run(ctx context.Context, dir, path string) (err error) {
	p, err := openPart(dir, f.name, f.want)
	if err != nil {
		return err
	}
	p.told = f.add
	resumed := p.size > 0
	for err == nil {
		if err = f.client.again(ctx, func() (bool, error) { return f.try(ctx, p) }); err != nil {
			break
		}
		if p.right() {
			return p.finish(path)
		}
		if !resumed {
			err = fmt.Errorf("%w: %s has %s, its list %s", ErrDigest, f.name, p.hash.digest(), f.want.Digest)
		}
		resumed = false // what was there may have been damaged: all of it, once
		err = errors.Join(err, p.restart())
	}
	return errors.Join(err, p.file.Close())
}

// try asks for what is missing, and tells whether some of it has come.
func (f *fetching) try(ctx context.Context, p *part) (further bool, err error) {
	before := p.size
	if before == f.want.Size {
		return false, nil
	}
	err = f.client.read(ctx, f.address, before, f.name, func(r *http.Response, body io.Reader) error {
		return receive(r, body, p)
	})
	return p.size > before, err
}

// receive adds an answer to a part.
func receive(r *http.Response, body io.Reader, p *part) error {
	if err := begin(r, p); err != nil {
		return err
	}
	if n := r.ContentLength; n >= 0 && n != p.want.Size-p.size {
		return fmt.Errorf("%w: %d bytes come where %d are missing: has the file changed?", ErrAnswer, n, p.want.Size-p.size)
	}
	if _, err := io.Copy(p, body); err != nil {
		return err
	}
	if p.size < p.want.Size {
		return passing("it ends after %d of %d bytes", p.size, p.want.Size)
	}
	return nil
}

// begin makes a part go on where an answer begins.
func begin(r *http.Response, p *part) error {
	switch r.StatusCode {
	case http.StatusPartialContent:
		want := fmt.Sprintf("bytes %d-%d/%d", p.size, p.want.Size-1, p.want.Size)
		if got := r.Header.Get("Content-Range"); got != want {
			return fmt.Errorf("%w: it sends %.80q, asked for %q: has the file changed?", ErrAnswer, got, want)
		}
		return nil
	case http.StatusRequestedRangeNotSatisfiable:
		if p.size == 0 {
			return fmt.Errorf("%w: it finds no range where none was asked for", ErrAnswer)
		}
		return errors.Join(passing("it does not go on at %d", p.size), p.restart())
	}
	return p.restart() // all of it: it knows no ranges
}
