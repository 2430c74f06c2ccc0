package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/certs"
)

const day = 24 * time.Hour

func openDir(t *testing.T) *certs.Dir {
	t.Helper()
	d, made, err := certs.OpenDir(filepath.Join(t.TempDir(), "certs"), day)
	if err != nil || !made {
		t.Fatalf("made %v, %v", made, err)
	}
	if err := errors.Join(d.AddServer([]string{"localhost", "127.0.0.1", "::1"}, day), d.AddClient("trainer", 300*day)); err != nil {
		t.Fatal(err)
	}
	return d
}

// shake is the handshake of a client and a server, and what the client reads after it.
func shake(t *testing.T, client, server certs.Files, name string) (clientErr, serverErr error) {
	t.Helper()
	sc, err := server.Server()
	if err != nil {
		t.Fatal(err)
	}
	cc, err := client.Client()
	if err != nil {
		t.Fatal(err)
	}
	cc.ServerName = name
	l, err := tls.Listen("tcp", "127.0.0.1:0", sc)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			if _, err = conn.Write([]byte("hello")); err != nil {
				err = errors.Join(err, conn.Close())
			} else {
				err = conn.Close()
			}
		}
		done <- errors.Join(err, l.Close())
	}()
	conn, clientErr := tls.Dial("tcp", l.Addr().String(), cc)
	if clientErr == nil { // the server's verdict comes after the handshake
		_, clientErr = conn.Read(make([]byte, 5))
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	return clientErr, <-done
}

func TestBothSidesShowCertificates(t *testing.T) {
	d, other := openDir(t), openDir(t)
	server, client := d.Files(certs.ServerName), d.Files("trainer")
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if c, s := shake(t, client, server, name); c != nil || s != nil {
			t.Errorf("%s: client %v, server %v", name, c, s)
		}
	}
	for what, got := range map[string]func() (error, error){
		"another name":         func() (error, error) { return shake(t, client, server, "example.org") },
		"a client's as server": func() (error, error) { return shake(t, client, client, "localhost") },
		"a server's as client": func() (error, error) { return shake(t, server, server, "localhost") },
		"another's authority":  func() (error, error) { return shake(t, other.Files("trainer"), server, "localhost") },
		"another's, same trusted": func() (error, error) {
			f := other.Files("trainer")
			f.CA = client.CA
			return shake(t, f, server, "localhost")
		},
	} {
		if c, s := got(); c == nil || s == nil {
			t.Errorf("%s: client %v, server %v", what, c, s)
		}
	}
}

func TestDirKeepsWhatIsThere(t *testing.T) {
	d := openDir(t)
	files := d.Files("trainer")
	if runtime.GOOS != "windows" {
		for _, path := range []string{files.Key, d.Files(certs.AuthorityName).Key} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	if err := d.AddClient("trainer", day); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one of the same name: %v", err)
	}
	again, made, err := certs.OpenDir(filepath.Dir(files.Cert), day)
	if err != nil || made {
		t.Fatalf("opened again: made %v, %v", made, err)
	}
	if err := again.AddClient("second", day); err != nil {
		t.Fatal(err)
	}
	if c, s := shake(t, again.Files("second"), d.Files(certs.ServerName), "localhost"); c != nil || s != nil {
		t.Errorf("a client added later: client %v, server %v", c, s)
	}
}

// No certificate is good for longer than its authority's.
func TestEndsWithItsAuthority(t *testing.T) {
	d := openDir(t)
	end := func(name string) time.Time {
		file, err := os.ReadFile(d.Files(name).Cert)
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(file)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		return cert.NotAfter
	}
	if got, want := end("trainer"), end(certs.AuthorityName); !got.Equal(want) {
		t.Errorf("the client's ends %v, the authority's %v", got, want)
	}
}

func TestBadFiles(t *testing.T) {
	d := openDir(t)
	good := d.Files("trainer")
	for _, c := range []struct {
		change func(*certs.Files)
		want   string
	}{
		{func(f *certs.Files) { f.Key = "" }, "three files"},
		{func(f *certs.Files) { f.CA += ".x" }, "no such file"},
		{func(f *certs.Files) { f.CA = f.Key }, "no certificate in PEM"},
		{func(f *certs.Files) { f.Key = d.Files(certs.ServerName).Key }, "does not match"},
	} {
		f := good
		c.change(&f)
		if _, err := f.Client(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", f, err, c.want)
		}
	}
	if err := os.WriteFile(d.Files(certs.AuthorityName).Key, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := certs.OpenDir(filepath.Dir(good.Cert), day); err == nil || !strings.Contains(err.Error(), "PRIVATE KEY") {
		t.Errorf("a broken authority: %v", err)
	}
}
