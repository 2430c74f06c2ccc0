package wire

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// listen listens on an address that may be listened on.
func listen(address string, config *tls.Config) (net.Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	switch {
	case err != nil:
		return nil, err
	case config == nil && !resolved.IP.IsLoopback():
		return nil, ErrInsecure
	case config != nil && (config.ClientAuth != tls.RequireAndVerifyClientCert || config.ClientCAs == nil || config.MinVersion < tls.VersionTLS13):
		return nil, fmt.Errorf("%w: a server asks for clients' certificates and for TLS 1.3", ErrInsecure)
	}
	return net.ListenTCP("tcp", resolved)
}

// dial connects to an address that may be connected to, and speaks TLS where it must.
func dial(ctx context.Context, address string, config *tls.Config) (*clientConn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if config != nil {
		conn, err = shake(ctx, conn, address, config)
	} else if to, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !to.IP.IsLoopback() {
		err = fmt.Errorf("%w: %s", ErrInsecure, address)
	}
	if err != nil {
		// The other error says it all.
		_ = conn.Close()
		return nil, err
	}
	return &clientConn{Conn: conn}, nil
}

// shake makes TLS of a connection, and answers a connection to close where that fails, too. It
// waits for the first byte of the server, which comes by itself: with TLS 1.3 the server says
// behind the handshake that it does not accept the certificate, and who writes before
// that may lose it.
func shake(ctx context.Context, conn net.Conn, address string, config *tls.Config) (net.Conn, error) {
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return conn, err
		}
		config.ServerName = host
	}
	secure := tls.Client(conn, config)
	read := &peeked{Conn: secure, reader: bufio.NewReader(secure)}
	err := secure.HandshakeContext(ctx)
	if err == nil {
		late := context.AfterFunc(ctx, func() {
			_ = conn.Close() // ends the reading, which tells
		})
		if _, err = read.reader.Peek(1); !late() {
			err = context.Cause(ctx)
		}
	}
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var alert *net.OpError
	if errors.As(err, &untrusted) || errors.As(err, &plain) || errors.As(err, &alert) && alert.Op == "remote error" {
		err = fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	return read, err
}

// peeked is a connection of which something was read ahead.
type peeked struct {
	net.Conn
	reader *bufio.Reader
}

func (c *peeked) Read(p []byte) (int, error) { return c.reader.Read(p) }

// clientConn is a connection that gRPC gets once, and never a second one.
type clientConn struct {
	net.Conn
	given atomic.Bool
}

func (c *clientConn) once(context.Context, string) (net.Conn, error) {
	if c.given.Swap(true) {
		return nil, net.ErrClosed
	}
	return c, nil
}

// identity is the fingerprint of the key in the certificate of a stream's peer; "": without TLS.
func identity(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.PeerCertificates) == 0 {
		return ""
	}
	sum := sha256.Sum256(info.State.PeerCertificates[0].RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

func addressOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return ""
}
