package remote_test

import (
	"context"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/executor"
)

// The link goes on while thousands of requests are cancelled at once.
func TestManyAreCancelled(t *testing.T) {
	const n = 4000
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Delay: slowly}, engine.Config{MaxQueueSize: 2 * n}, gateway.Options{})
	c := connect(t, r.addr(), remote.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	requests := make([]engine.Request, n)
	for i := range requests {
		requests[i] = engine.Request{PromptIDs: ids(4, i), MaxNewTokens: 500, IgnoreEOS: true}
	}
	begin := time.Now()
	if _, err := c.AddRequests(ctx, requests); err != nil {
		t.Fatal(err)
	}
	added := time.Since(begin)
	cancel()
	begin = time.Now()
	if s := c.Status(); s.Mode != "running" {
		t.Errorf("%+v", s)
	}
	asked := time.Since(begin)
	ended := 0
	for _, err := range c.Results(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ended++
	}
	if ended != n {
		t.Errorf("%d ends of %d", ended, n)
	}
	t.Logf("added in %v, a call behind the cancels is answered in %v", added, asked)
}
