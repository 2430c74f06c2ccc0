package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cbactor/cbactor/internal/filelock"
	"github.com/cbactor/cbactor/internal/hubcache"
)

// parallel is how many files are fetched at a time.
const parallel = 4

// Progress is told how far a pull is, from any goroutine.
type Progress interface {
	Add(bytes int)
	Close() error
}

// Request says what to pull, and where to.
type Request struct {
	Ref     hubcache.Ref
	Include []string // patterns of names, as path.Match has them; none: what a model needs
	Dir     string   // folder, which is made if it is not there

	// Begin is called once it is known how many bytes are to come. What it gives is
	// closed when they have come, or no more will.
	Begin func(bytes int64) Progress
}

// Result is what a pull has come to.
type Result struct {
	Commit  string
	Files   []string // that were asked for, by name
	Bytes   int64    // of them
	Fetched int64    // bytes that have come now, those that came twice counted once
}

// Pull copies files of a hub into a folder. What is there already and right is not
// fetched. When it fails or ctx ends, whose cause is the error then, what has come stays
// for the next Pull of the same files. Files of an older commit that the new one has no
// more are removed, and those that it has otherwise are missing until they are pulled. A
// folder takes one repository. Errors are those of the package, or of the disk.
func (c *Client) Pull(ctx context.Context, r Request) (_ Result, err error) {
	l, err := c.list(ctx, r.Ref)
	if err != nil {
		return Result{}, err
	}
	names, err := l.choose(r.Ref, r.Include)
	if err != nil {
		return Result{}, err
	}
	out := Result{Commit: l.commit}
	if err := os.MkdirAll(r.Dir, 0o777); err != nil {
		return out, err
	}
	unlock, err := lock(r.Dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	p := &pull{client: c, request: &r, listing: &l}
	if p.record, err = hubcache.ReadRecord(r.Dir); err != nil {
		return out, err
	}
	if of := p.record.Repo; of != "" && of != r.Ref.Repo() {
		return out, fmt.Errorf("%w: %s is a copy of %s", ErrTaken, r.Dir, of)
	}
	if names, err = p.withShards(ctx, names); err != nil {
		return out, err
	}
	if err := alike(names); err != nil {
		return out, err
	}
	slices.Sort(names)
	out.Files = names
	for _, name := range names {
		out.Bytes += l.files[name].Size
	}
	if err := p.plan(names); err != nil {
		return out, err
	}
	out.Fetched, err = p.run(ctx)
	return out, err
}

// lock keeps other processes from pulling into a folder.
func lock(dir string) (unlock func() error, err error) {
	file, err := os.OpenFile(filepath.Join(dir, hubcache.Prefix+"lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(file); err != nil {
		if errors.Is(err, filelock.ErrLocked) {
			err = fmt.Errorf("%w (%s)", ErrBusy, dir)
		}
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// pull is one that is under way.
type pull struct {
	client  *Client
	request *Request
	listing *listing
	todo    []string
	bytes   int64 // to come

	mu     sync.Mutex // of the record, which goes to disk with each file
	record hubcache.Record
}

func (p *pull) path(name string) string {
	return filepath.Join(p.request.Dir, filepath.FromSlash(name))
}

// address is where a file of the commit is.
func (p *pull) address(name string) *url.URL {
	ref := p.request.Ref
	return p.client.address(append([]string{ref.Org, ref.Name, "resolve", p.listing.commit}, strings.Split(name, "/")...)...)
}

// plan decides what is to be fetched, makes sure that there is room for it, and writes
// the record of a copy that is not whole.
func (p *pull) plan(names []string) error {
	for _, name := range slices.Sorted(maps.Keys(p.record.Files)) {
		want, still := p.listing.files[name]
		switch {
		case !still:
			if err := os.Remove(p.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			delete(p.record.Files, name)
		case p.record.Files[name] != want: // of an older commit, also where it is not asked for now
			delete(p.record.Files, name)
			p.record.Missing = append(p.record.Missing, name)
		}
	}
	for _, name := range names {
		want := p.listing.files[name]
		have, err := p.has(name, want)
		if err != nil {
			return err
		}
		if have {
			p.record.Files[name] = want
			continue
		}
		delete(p.record.Files, name)
		p.todo = append(p.todo, name)
		begun, err := partSize(p.request.Dir, name, want)
		if err != nil {
			return err
		}
		p.bytes += want.Size - begun
	}
	if free, known := freeSpace(p.request.Dir); known && uint64(p.bytes) > free {
		return fmt.Errorf("%w: %d bytes are to come, %s has %d", ErrSpace, p.bytes, p.request.Dir, free)
	}
	p.record.Repo, p.record.Revision, p.record.Commit = p.request.Ref.Repo(), p.request.Ref.Revision, p.listing.commit
	p.record.Missing = p.missing()
	return p.record.Write(p.request.Dir)
}

// missing are the files that are to come, now or in a pull that was not whole.
func (p *pull) missing() []string {
	all := slices.Clone(p.todo)
	for _, name := range p.record.Missing {
		_, whole := p.record.Files[name]
		if _, still := p.listing.files[name]; still && !whole && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// has says whether a file is there. One that the record does not know is read: it is
// the file, or one of somebody else.
func (p *pull) has(name string, want hubcache.File) (bool, error) {
	_, recorded := p.record.Files[name]
	info, err := os.Lstat(p.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case recorded:
		return info.Mode().IsRegular() && info.Size() == want.Size, nil
	case slices.Contains(p.record.Missing, name): // an older version of it may be there
		return false, nil
	case !info.Mode().IsRegular() || info.Size() != want.Size:
		return false, fmt.Errorf("%w: %s", ErrTaken, p.path(name))
	}
	digest, err := digestOf(p.path(name), want)
	if err == nil && digest != want.Digest {
		err = fmt.Errorf("%w: %s", ErrTaken, p.path(name))
	}
	return err == nil, err
}

// digestOf is the digest of a file, of the kind that is wanted.
func digestOf(path string, want hubcache.File) (_ string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := newHasher(want)
	_, err = io.Copy(h, file)
	return h.digest(), err
}

// run fetches what is to be fetched, the small files first, and counts the bytes.
func (p *pull) run(ctx context.Context) (fetched int64, err error) {
	if len(p.todo) == 0 {
		return 0, nil
	}
	progress := p.request.Begin(p.bytes)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slices.SortStableFunc(p.todo, func(a, b string) int {
		return int(min(1, max(-1, p.listing.files[a].Size-p.listing.files[b].Size)))
	})
	next := make(chan string, len(p.todo))
	for _, name := range p.todo {
		next <- name
	}
	close(next)
	var all sync.WaitGroup
	var counted sync.Mutex
	add := func(n int) {
		counted.Lock()
		fetched += int64(n)
		counted.Unlock()
		progress.Add(n)
	}
	for range min(parallel, len(p.todo)) {
		all.Go(func() {
			for name := range next {
				if err := p.one(ctx, name, add); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	all.Wait()
	err = context.Cause(ctx)
	if err == nil {
		err = p.sweep()
	}
	return fetched, errors.Join(err, progress.Close())
}

// one fetches a file and records it.
func (p *pull) one(ctx context.Context, name string, add func(int)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	want := p.listing.files[name]
	f := fetching{client: p.client, address: p.address(name), name: name, want: want, add: add}
	if err := f.run(ctx, p.request.Dir, p.path(name)); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record.Files[name] = want
	p.record.Missing = slices.DeleteFunc(p.record.Missing, func(n string) bool { return n == name })
	return p.record.Write(p.request.Dir)
}
