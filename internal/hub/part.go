package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cbactor/cbactor/internal/hubcache"
)

// partsDir is where parts lie in a folder until they are whole.
const partsDir = hubcache.Prefix + "parts"

// partPath is where the part of a file lies. The digest of the whole is in it, so that it
// is gone on with for that file alone, and so is a hash of the name, as two files may be
// equal.
func partPath(dir, name string, f hubcache.File) string {
	_, digest, _ := strings.Cut(f.Digest, ":")
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(dir, partsDir, digest+"-"+hex.EncodeToString(sum[:8]))
}

// sweep removes the parts that no pull goes on with: what a listed file has that is not
// whole stays.
func (p *pull) sweep() error {
	useful := map[string]bool{}
	for name, f := range p.listing.files {
		if p.record.Files[name] != f {
			useful[partPath(p.request.Dir, name, f)] = true
		}
	}
	dir := filepath.Join(p.request.Dir, partsDir)
	parts, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	kept := false
	for _, part := range parts {
		path := filepath.Join(dir, part.Name())
		if useful[path] {
			kept = true
		} else if err := os.Remove(path); err != nil {
			return err
		}
	}
	if kept {
		return nil
	}
	return os.Remove(dir)
}

// partSize is how much of a file is there, in bytes.
func partSize(dir, name string, f hubcache.File) (int64, error) {
	info, err := os.Stat(partPath(dir, name, f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case info.Size() > f.Size:
		return 0, nil
	}
	return info.Size(), nil
}

// part is the beginning of a file.
type part struct {
	file *os.File
	hash hasher
	size int64 // bytes there, which hash has seen
	want hubcache.File

	most int64           // bytes that were there before a restart, or are
	told func(bytes int) // of those that become more than that
}

// openPart opens what is there of a file, and reads it for its digest.
func openPart(dir, name string, want hubcache.File) (_ *part, err error) {
	if err := os.MkdirAll(filepath.Join(dir, partsDir), 0o777); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(partPath(dir, name, want), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	p := &part{file: file, hash: newHasher(want), want: want}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	if p.size, err = io.Copy(p.hash, io.LimitReader(file, want.Size+1)); err != nil {
		return nil, err
	}
	if p.size > want.Size {
		return p, p.restart()
	}
	p.most = p.size
	return p, nil
}

// restart throws away what is there.
func (p *part) restart() error {
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	p.hash, p.size = newHasher(p.want), 0
	return err
}

// Write implements io.Writer: it adds to what is there, which never becomes more than
// the whole.
func (p *part) Write(b []byte) (int, error) {
	if int64(len(b)) > p.want.Size-p.size {
		return 0, fmt.Errorf("%w: more than the %d bytes that were listed", ErrAnswer, p.want.Size)
	}
	n, err := p.file.Write(b)
	p.hash.Write(b[:n]) // a hash gives no errors
	p.size += int64(n)
	if p.size > p.most {
		p.told(int(p.size - p.most))
		p.most = p.size
	}
	return n, err
}

// right says whether the whole is there and the one that is wanted.
func (p *part) right() bool {
	return p.size == p.want.Size && p.hash.digest() == p.want.Digest
}

// finish puts the whole in its place.
func (p *part) finish(path string) error {
	from := p.file.Name()
	if err := errors.Join(p.file.Sync(), p.file.Close()); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.Rename(from, path)
}
