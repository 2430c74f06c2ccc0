package wire_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cbactor/cbactor/internal/certs"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

func newCerts(t *testing.T) *certs.Dir {
	t.Helper()
	d, _, err := certs.OpenDir(filepath.Join(t.TempDir(), "certs"), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.AddServer([]string{"localhost", "127.0.0.1"}, time.Hour), d.AddClient("a", time.Hour), d.AddClient("b", time.Hour)); err != nil {
		t.Fatal(err)
	}
	return d
}

func clientTLS(t *testing.T, f certs.Files) *tls.Config {
	t.Helper()
	config, err := f.Client()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// fingerprint is that of the key in a certificate's file.
func fingerprint(t *testing.T, path string) string {
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(file)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

func TestCertificatesOfBothSides(t *testing.T) {
	d, other := newCerts(t), newCerts(t)
	config, err := d.Files(certs.ServerName).Server()
	if err != nil {
		t.Fatal(err)
	}
	identities := make(chan string, 10)
	s := serve(t, answer, func(o *wire.ServerOptions) {
		o.TLS = config
		accept := o.Accept
		o.Accept = func(p wire.Peer) (*actor.PID, error) {
			identities <- p.Identity
			return accept(p)
		}
	})
	for _, name := range []string{"a", "b"} {
		o := s.options()
		o.TLS = clientTLS(t, d.Files(name))
		c := s.dial(t, o)
		c.send(&messages.Call{Number: 5})
		if r := next[*messages.Reply](c.owner); r.Number != 5 {
			t.Errorf("answer %v", r)
		}
		if got, want := <-identities, fingerprint(t, d.Files(name).Cert); got != want {
			t.Errorf("client %s is %q, want %q", name, got, want)
		}
	}

	half := other.Files("a")
	half.CA = d.Files("a").CA
	none := clientTLS(t, d.Files("a"))
	none.Certificates = nil
	misnamed := clientTLS(t, d.Files("a"))
	misnamed.ServerName = "example.org"
	for name, config := range map[string]*tls.Config{
		"another authority":            clientTLS(t, other.Files("a")),
		"a certificate of another one": clientTLS(t, half),
		"no certificate":               none,
		"a server's certificate":       clientTLS(t, d.Files(certs.ServerName)),
		"another server's name":        misnamed,
	} {
		o := s.options()
		o.TLS, o.Owner = config, s.engine.pid
		if _, err := wire.Dial(t.Context(), s.clients, o); !errors.Is(err, wire.ErrUntrusted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := s.options()
	o.Owner = s.engine.pid
	if _, err := wire.Dial(t.Context(), s.clients, o); err == nil {
		t.Error("a client without TLS is let in")
	}
	plain := serve(t, answer)
	o = plain.options()
	o.TLS, o.Owner = clientTLS(t, d.Files("a")), s.engine.pid
	if _, err := wire.Dial(t.Context(), s.clients, o); !errors.Is(err, wire.ErrUntrusted) {
		t.Errorf("a server without TLS: %v", err)
	}
	if len(identities) > 0 {
		t.Error("one of them came as far as Accept")
	}
}

func TestPlaintextIsForLoopback(t *testing.T) {
	system := newSystem(t)
	for _, listen := range []string{":0", "0.0.0.0:0", "[::]:0"} {
		if _, err := wire.Serve(system, wire.ServerOptions{Listen: listen}); !errors.Is(err, wire.ErrInsecure) {
			t.Errorf("listening on %s: %v", listen, err)
		}
	}
	for name, config := range map[string]*tls.Config{
		"no certificates asked for": {MinVersion: tls.VersionTLS13},
		"old TLS":                   {ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()},
	} {
		if _, err := wire.Serve(system, wire.ServerOptions{Listen: "127.0.0.1:0", TLS: config}); !errors.Is(err, wire.ErrInsecure) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Dial ends when its context does, whatever the other side does or does not.
func TestDialEndsInTime(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, answer, func(o *wire.ServerOptions) {
		accept := o.Accept
		o.Accept = func(p wire.Peer) (*actor.PID, error) {
			select {
			case <-ended:
			case <-time.After(time.Minute): // so that a dial that goes on is told of, and hangs nothing
			}
			return accept(p)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	o := s.options()
	o.Owner = s.engine.pid
	if _, err := wire.Dial(ctx, s.clients, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dialing ends with %v", err)
	}
	close(ended) // nobody has been accepted before
	o.ID = "x"
	if _, err := wire.Dial(t.Context(), s.clients, o); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("a short id: %v", err)
	}
}
