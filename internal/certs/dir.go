package certs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Dir is a folder with an authority and what it has signed: NAME.crt and NAME.key for each of them,
// which only the owner can read.
type Dir struct {
	path      string
	authority *Authority
}

// Names of files, without their endings.
const (
	AuthorityName = "ca"
	ServerName    = "server"
)

// OpenDir opens a folder, and makes it, its authority, or both where they are missing. made
// says that the authority is new.
func OpenDir(path string, valid time.Duration) (d *Dir, made bool, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, false, err
	}
	d = &Dir{path: path}
	if !d.Has(AuthorityName) {
		if d.authority, err = NewAuthority(valid); err != nil {
			return nil, false, err
		}
		return d, true, d.write(AuthorityName, d.authority.Pair())
	}
	var pair Pair
	files := d.Files(AuthorityName)
	if pair.Cert, err = os.ReadFile(files.Cert); err != nil {
		return nil, false, err
	}
	if pair.Key, err = os.ReadFile(files.Key); err != nil {
		return nil, false, err
	}
	if d.authority, err = ReadAuthority(pair); err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return d, false, nil
}

// Files are those for the side of a connection whose certificate has a name.
func (d *Dir) Files(name string) Files {
	at := func(file string) string { return filepath.Join(d.path, file) }
	return Files{CA: at(AuthorityName + ".crt"), Cert: at(name + ".crt"), Key: at(name + ".key")}
}

// Has says whether there is a certificate of a name already.
func (d *Dir) Has(name string) bool {
	_, err := os.Lstat(d.Files(name).Cert)
	return !errors.Is(err, fs.ErrNotExist)
}

// AddServer makes the server's certificate, as Authority.Server does.
func (d *Dir) AddServer(hosts []string, valid time.Duration) error {
	pair, err := d.authority.Server(hosts, valid)
	if err != nil {
		return err
	}
	return d.write(ServerName, pair)
}

// AddClient makes a client's certificate, as Authority.Client does.
func (d *Dir) AddClient(name string, valid time.Duration) error {
	pair, err := d.authority.Client(name, valid)
	if err != nil {
		return err
	}
	return d.write(name, pair)
}

// write writes a new pair; a file that is there is never overwritten.
func (d *Dir) write(name string, p Pair) error {
	files := d.Files(name)
	if err := create(files.Key, p.Key, 0o600); err != nil {
		return err
	}
	return create(files.Cert, p.Cert, 0o644)
}

func create(path string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(data)
	return err
}
