package test

import (
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// All weights of SmolLM2 are sent to a server while 16 requests decode, and again, and between
// that over a plain stream of gRPC's, to a server that throws them away. Speeds are logged.
func TestRemoteWeightsSpeed(t *testing.T) {
	if os.Getenv("CBACTOR_FULL") == "" {
		t.Skip("a measurement: set CBACTOR_FULL")
	}
	model := asset(t, "smollm2-bf16")
	set, err := weights.Load(model.Config, model, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	path, err := checkpoint.Resolve("smollm2-bf16")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t, "--model", path, "--num-blocks", "2048")
	c, err := remote.Connect(t.Context(), server.address, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	sendUpdate(t, c, set) // takes the memory of the second set
	load := decode(t, c, 16)
	defer load.stop()
	const rounds = 5
	var plain, sent []float64
	var idle, busy []float64
	for range rounds {
		load.during(&idle, func() { time.Sleep(2 * time.Second) })
		var took time.Duration
		plain = append(plain, mbps(set, sendPlain(t, set)))
		load.during(&busy, func() { took = sendUpdate(t, c, set) })
		sent = append(sent, mbps(set, took))
	}
	for _, list := range [][]float64{plain, sent, idle, busy} {
		slices.Sort(list)
	}
	const half = rounds / 2
	t.Logf("median of %d: %.0f MB/s over a plain stream, %.0f MB/s into an update (%.0f %%), %d MB each time, beside 16 requests", rounds, plain[half], sent[half], 100*sent[half]/plain[half], set.Bytes()/1e6)
	t.Logf("median of %d: %.1f tokens/s, %.1f while weights are sent", rounds, idle[half], busy[half])
}

// mbps is the speed of a set's transfer, in 10⁶ bytes a second.
func mbps(set *weights.Set, took time.Duration) float64 {
	return float64(set.Bytes()) / 1e6 / took.Seconds()
}

// sendPlain sends a set over a plain stream, in chunks of the size of an update's, and gives the
// time that takes.
func sendPlain(t *testing.T, set *weights.Set) time.Duration {
	t.Helper()
	stream := wiretest.PlainStream(t)
	begin := time.Now()
	for tensor := range set.All() {
		for chunk := range slices.Chunk(tensor.Data, 1<<20) {
			if err := stream.SendMsg(&messages.Call{What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Name: tensor.Name, Data: chunk}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(new(messages.Reply)); err != nil {
		t.Fatal(err)
	}
	return time.Since(begin)
}

// sendUpdate sends a set as an update, sees that all has arrived, and throws it away. It gives the
// time until it has.
func sendUpdate(t *testing.T, api engine.API, set *weights.Set) time.Duration {
	t.Helper()
	var manifest weights.Manifest
	for tensor := range set.All() {
		manifest.Tensors = append(manifest.Tensors, weights.Entry{Name: tensor.Name, DType: tensor.DType.String(), Shape: tensor.Shape})
	}
	begin := time.Now()
	u, err := api.Update(t.Context(), engine.UpdateOptions{Version: "sent", Manifest: manifest})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Abort()
	for tensor := range set.All() {
		if err := u.Put(tensor.Name, tensor.DType.String(), tensor.Shape, 0, tensor.Data); err != nil {
			t.Fatal(err)
		}
	}
	if gaps, err := u.Missing(t.Context()); err != nil || len(gaps) > 0 {
		t.Fatalf("%d gaps, %v", len(gaps), err)
	}
	return time.Since(begin)
}

// decoding are requests that decode at a time: where one ends, another one begins.
type decoding struct {
	tokens  atomic.Int64
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func decode(t *testing.T, api engine.API, requests int) *decoding {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d := &decoding{cancel: cancel}
	for i := range requests {
		d.running.Go(func() {
			for ctx.Err() == nil {
				s, err := api.AddRequest(ctx, engine.Request{PromptIDs: []int32{1, int32(i)}, MaxNewTokens: 400, IgnoreEOS: true})
				for err == nil {
					var c engine.Chunk
					if c, err = s.Recv(ctx); c.Final != nil {
						break
					}
					d.tokens.Add(int64(len(c.TokenIDs)))
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for deadline := time.Now().Add(soon); d.tokens.Load() < int64(requests); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is generated")
		}
	}
	return d
}

func (d *decoding) stop() {
	d.cancel()
	d.running.Wait()
}

// during adds how many tokens come a second, while something is done, to a list.
func (d *decoding) during(list *[]float64, do func()) {
	begin, before := time.Now(), d.tokens.Load()
	do()
	*list = append(*list, float64(d.tokens.Load()-before)/time.Since(begin).Seconds())
}
