package remote_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/weights"
)

// echo is an engine whose steps take next to no time, with a client of it.
func echo(b *testing.B) (*rig, *remote.Client) {
	r := serveEcho(b, executor.EchoConfig{Blocks: 4096, Slots: 64, Tokens: 256}, engine.Config{}, gateway.Options{})
	return r, connect(b, r.addr(), remote.Options{})
}

// Tokens a second that one connection brings, in so many streams, each read as they come.
func BenchmarkStreams(b *testing.B) {
	r, c := echo(b)
	for name, api := range map[string]engine.API{"local": r.engine, "remote": c} {
		b.Run(name, func(b *testing.B) {
			const streams, tokens = 16, 500
			for b.Loop() {
				var running sync.WaitGroup
				for i := range streams {
					running.Go(func() {
						read(b, add(b, api, engine.Request{PromptIDs: ids(8, i), MaxNewTokens: tokens, IgnoreEOS: true}), tokens+1)
					})
				}
				running.Wait()
			}
			b.ReportMetric(float64(b.N*streams*tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// The time from a request to its first token, alone, in microseconds.
func BenchmarkFirstToken(b *testing.B) {
	r, c := echo(b)
	for name, api := range map[string]engine.API{"local": r.engine, "remote": c} {
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				begin := time.Now()
				s := add(b, api, engine.Request{PromptIDs: ids(8, 1), MaxNewTokens: 2, IgnoreEOS: true})
				read(b, s, 1)
				times = append(times, time.Since(begin))
				s.Wait(b.Context())
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// A whole set of weights, sent and thrown away.
func BenchmarkUpdate(b *testing.B) {
	r := serve(b, engine.Config{}, gateway.Options{})
	c := connect(b, r.addr(), remote.Options{})
	set, manifest := trained(b)
	b.SetBytes(int64(set.Bytes()))
	for b.Loop() {
		u, err := c.Update(b.Context(), engine.UpdateOptions{Version: "v2", Manifest: weights.Manifest{Tensors: manifest.Tensors}})
		if err != nil {
			b.Fatal(err)
		}
		if err := put(set, u); err != nil {
			b.Fatal(err)
		}
		if gaps, err := u.Missing(b.Context()); err != nil || len(gaps) > 0 {
			b.Fatalf("%v, %v", gaps, err)
		}
		u.Abort()
	}
}
