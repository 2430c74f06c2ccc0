package test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// frames are what a stranger sends in the place of frames: each is a body of gRPC. Which
// kinds there are is tested in package wire.
func frames() map[string][]byte {
	noise := make([]byte, 1<<16)
	_, _ = rand.Read(noise) // never fails
	connect := []byte("\x12\x16\x0a\x14\x0a\x12stranger-0123456789")
	return map[string][]byte{
		"noise":          noise,
		"a cut frame":    frame([]byte("abc"))[:6],
		"4 GiB to come":  append([]byte{0, 255, 255, 255, 255}, noise...),
		"oversized":      append(frame(connect), frame(slices.Repeat([]byte{10}, 5<<20))...),
		"no protobuf":    append(frame(connect), frame(noise)...),
		"twice":          append(frame(connect), frame(connect)...),
		"a type unknown": append(frame(connect), frame([]byte("\x0a\x0c\x0a\x0aactor.Stop"))...),
	}
}

// frame puts what gRPC has before a message.
func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// attack sends a server what nobody may send, all at once: each connection ends soon.
func attack(t *testing.T, address string) {
	t.Helper()
	var running sync.WaitGroup
	defer running.Wait()
	for _, b := range [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n"), append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frames()["noise"]...)} {
		running.Go(func() { throw(t, address, b) })
	}
	for name, body := range frames() {
		running.Go(func() {
			if status := call(t, address, body); status == "0" {
				t.Errorf("%s: the stream ends as if it was well", name)
			}
		})
	}
}

// throw writes to a server what is not even HTTP/2.
func throw(t *testing.T, address string, bytes []byte) {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		t.Error(err)
		return
	}
	// It may be cut while it is written to: that is the point.
	_, _ = conn.Write(bytes)
	_ = conn.SetReadDeadline(time.Now().Add(attention))
	if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
		t.Errorf("%.20q: the connection is still there", bytes)
	}
	_ = conn.Close()
}

// attention is how long a server may look at somebody who says nothing that it understands.
const attention = 30 * time.Second

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// call sends a body to the engine's stream, and gives the state that gRPC ends it with; "": the
// connection has ended before.
func call(t *testing.T, address string, body []byte) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), attention)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/remote.Remoting/Receive", io.NopCloser(bytes.NewReader(body)))
	if err != nil {
		t.Error(err)
		return ""
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("TE", "trailers")
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		if ctx.Err() != nil {
			t.Errorf("%.20q: no answer: %v", body, err)
		}
		return ""
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil && ctx.Err() != nil {
		t.Errorf("%.20q: no end: %v", body, err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if status := response.Header.Get("Grpc-Status"); status != "" {
		return status
	}
	return response.Trailer.Get("Grpc-Status")
}
