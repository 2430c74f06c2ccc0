package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Pair is a certificate and its key, in PEM.
type Pair struct{ Cert, Key []byte }

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pair Pair
}

// skew is how far the clocks of two machines may lie apart.
const skew = 5 * time.Minute

// NewAuthority makes an authority, with a key of P-256.
func NewAuthority(valid time.Duration) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate("cbactor authority", valid)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	pair, err := sign(template, template, key, key)
	if err != nil {
		return nil, err
	}
	return ReadAuthority(pair)
}

// ReadAuthority is an authority that was made before.
func ReadAuthority(p Pair) (*Authority, error) {
	cert, err := parse(p.Cert, "CERTIFICATE", x509.ParseCertificate)
	if err != nil {
		return nil, fmt.Errorf("authority's certificate: %w", err)
	}
	anyKey, err := parse(p.Key, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("authority's key: %w", err)
	}
	key, ok := anyKey.(*ecdsa.PrivateKey)
	if !ok || !key.PublicKey.Equal(cert.PublicKey) {
		return nil, errors.New("authority's key is not that of its certificate")
	}
	if !cert.IsCA {
		return nil, errors.New("authority's certificate is not one of an authority")
	}
	return &Authority{cert: cert, key: key, pair: p}, nil
}

// Pair is the authority's own certificate and key.
func (a *Authority) Pair() Pair { return a.pair }

// Server makes a certificate for a server that is reached by these names and IP addresses.
func (a *Authority) Server(hosts []string, valid time.Duration) (Pair, error) {
	if len(hosts) == 0 {
		return Pair{}, errors.New("a server's certificate needs a name or an address")
	}
	template, err := newTemplate(hosts[0], valid)
	if err != nil {
		return Pair{}, err
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return a.issue(template)
}

// Client makes a certificate for a client.
func (a *Authority) Client(name string, valid time.Duration) (Pair, error) {
	template, err := newTemplate(name, valid)
	if err != nil {
		return Pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

// issue signs a certificate, which ends with the authority's at the latest.
func (a *Authority) issue(template *x509.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	if template.NotAfter.After(a.cert.NotAfter) {
		template.NotAfter = a.cert.NotAfter
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	return sign(template, a.cert, key, a.key)
}

func newTemplate(name string, valid time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-skew),
		NotAfter:     now.Add(valid),
	}, nil
}

func sign(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) (Pair, error) {
	cert, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		return Pair{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}

// parse reads the first block of a PEM file, which must be of a kind.
func parse[T any](file []byte, kind string, read func([]byte) (T, error)) (T, error) {
	block, _ := pem.Decode(file)
	if block == nil || block.Type != kind {
		var none T
		return none, fmt.Errorf("not a PEM file with a %s", kind)
	}
	return read(block.Bytes)
}
