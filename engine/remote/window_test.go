package remote_test

import (
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// What is told of few tokens may be as large as all that may be under way: the stream goes on.
func TestTokensOfManyBytes(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Vocab: 4000, Blocks: 64}, engine.Config{}, gateway.Options{})
	c := connect(t, r.addr(), remote.Options{})
	const n = 150 // of about 20 KiB each
	s := add(t, c, engine.Request{PromptIDs: ids(4, 1), MaxNewTokens: n, IgnoreEOS: true,
		Sampling: sampling.Params{Temperature: 1, Tell: sampling.Tell{Logprobs: true, Top: 50, Kept: true}}})
	ctx := within(t, 20*time.Second)
	for came := 0; came < n; {
		got, err := s.Recv(ctx)
		if err != nil {
			t.Fatalf("behind %d tokens: %v", came, err)
		}
		if came += len(got.TokenIDs); len(got.Logprobs[0].Kept) < 1000 {
			t.Errorf("%d ids are told", len(got.Logprobs[0].Kept))
		}
	}
}
