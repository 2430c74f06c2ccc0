package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// More connections than there may be wait until others are closed.
func TestConnectionsAreBounded(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Limits: Limits{Connections: 2}})
	served := r.listening()
	held := []net.Conn{r.dial(), r.dial()}
	for _, c := range held { // both are taken when they are answered
		if _, err := io.WriteString(c, "GET /version HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	third := make(chan int, 1)
	go func() { third <- r.raw("GET /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }()
	select {
	case status := <-third:
		t.Fatalf("a third connection is answered with %d", status)
	case <-time.After(50 * time.Millisecond):
	}
	if err := held[0].Close(); err != nil {
		t.Fatal(err)
	}
	if status := <-third; status != 200 {
		t.Errorf("then it is answered with %d", status)
	}
	if err := held[1].Close(); err != nil {
		t.Error(err)
	}
	r.server.Drain(t.Context())
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// dial connects to the server.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// A header that does not arrive costs its sender the connection.
func TestHeaderThatDoesNotArrive(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{Limits: Limits{Header: 50 * time.Millisecond}})
	served := r.listening()
	c := r.dial()
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := io.WriteString(c, "GET /version HTTP/1.1\r\nHost: a\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) { // a reset closes it, too
		t.Errorf("it is not closed: %v", err)
	}
	r.server.Drain(t.Context())
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Who does not read holds up nobody: what he asked for is computed to its end, and others get
// their tokens, though he may take his time.
func TestSlowReader(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Slots: 256, Blocks: 2048, Delay: func(b *executor.Batch) {
		if len(b.Rows) > 0 {
			time.Sleep(time.Millisecond)
		}
	}}, engine.Config{MaxQueueSize: 256}, Options{Limits: Limits{Patience: 5 * time.Minute}})
	other := object{"prompt": count(5), "max_tokens": 100, "ignore_eos": true}
	slow := r.dial()
	t.Cleanup(func() { _ = slow.Close() }) // it may be closed: what a failure leaves open holds up the server
	if err := slow.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	// More than the buffers of any connection take: 64 sequences of 200 tokens, each with 20 others beside it.
	req := r.request(t.Context(), completionsPath, object{"prompt": count(5), "n": 64, "max_tokens": 200, "ignore_eos": true, "logprobs": 20, "stream": true})
	var raw bytes.Buffer
	if err := req.Write(&raw); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Write(raw.Bytes()); err != nil {
		t.Fatal(err)
	}
	r.until("he generates", func() bool { return r.engine.Metrics().GeneratedTokens >= 64 })
	r.streamed(completionsPath, other) // a writer that waits for him takes all his patience
	r.until("all of his is computed", func() bool { return r.engine.Metrics().Ended[engine.FinishLength] == 1+64 })
	if now := r.scrape(); now["cbactor_slow_readers_cut_total"] != 0 || now["cbactor_calls_open"] != 1 {
		t.Errorf("%v calls are open, %v were cut off: nothing is shown", now["cbactor_calls_open"], now["cbactor_slow_readers_cut_total"])
	}
	if err := slow.Close(); err != nil {
		t.Error(err)
	}
	r.resting()
}
