package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// Files name what one side of a connection has: the certificate of the authority that the other
// side's must be of, its own certificate, and the key of that. All are in PEM.
type Files struct{ CA, Cert, Key string }

// ErrMissing says that not all three files are given.
var ErrMissing = errors.New("TLS needs three files: the authority's certificate, one's own, and its key")

// Server is for the side that listens: it lets in whom the authority has given a client's
// certificate.
func (f Files) Server() (*tls.Config, error) {
	pool, pair, err := f.read()
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}, nil
}

// Client is for the side that connects: it trusts servers whose certificate is the authority's
// and has the name or address that is connected to.
func (f Files) Client() (*tls.Config, error) {
	pool, pair, err := f.read()
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: pool}, nil
}

func (f Files) read() (*x509.CertPool, tls.Certificate, error) {
	var pair tls.Certificate
	if f.CA == "" || f.Cert == "" || f.Key == "" {
		return nil, pair, ErrMissing
	}
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, pair, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, pair, fmt.Errorf("%s: no certificate in PEM", f.CA)
	}
	cert, err := os.ReadFile(f.Cert)
	if err != nil {
		return nil, pair, err
	}
	key, err := os.ReadFile(f.Key)
	if err != nil {
		return nil, pair, err
	}
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		return nil, pair, fmt.Errorf("%s with %s: %w", f.Cert, f.Key, err)
	}
	return pool, pair, nil
}
