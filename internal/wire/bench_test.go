package wire_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/wire/wiretest"
	"github.com/cbactor/cbactor/messages"
)

func BenchmarkRoundTrip(b *testing.B) {
	s := serve(b, answer)
	c := s.dial(b, s.options())
	took := make([]time.Duration, 0, b.N)
	for number := uint64(0); b.Loop(); number++ {
		begin := time.Now()
		c.send(&messages.Call{Number: number})
		next[*messages.Reply](c.owner)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// sizes are what the benchmarks of throughput send, and how many of them may be under way.
var sizes = []struct {
	name          string
	size, inQueue int
}{{"100B", 100, 4096}, {"1MiB", 1 << 20, 8}}

// BenchmarkWire sends chunks to an engine that answers each of them.
func BenchmarkWire(b *testing.B) {
	for _, c := range sizes {
		b.Run(c.name, func(b *testing.B) {
			s := serve(b, answer)
			client := s.dial(b, s.options())
			data := make([]byte, c.size)
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			open := 0
			for b.Loop() {
				if open == c.inQueue {
					next[*messages.Reply](client.owner)
					open--
				}
				client.send(&messages.Call{Number: 1, What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Name: "a.b", Data: data}}})
				open++
			}
			for ; open > 0; open-- {
				next[*messages.Reply](client.owner)
			}
		})
	}
}

// BenchmarkPlain sends the same over a stream of gRPC's, which answers nothing but at the end.
func BenchmarkPlain(b *testing.B) {
	for _, c := range sizes {
		b.Run(c.name, func(b *testing.B) {
			stream := wiretest.PlainStream(b)
			data := make([]byte, c.size)
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			for b.Loop() {
				m := &messages.Call{Number: 1, What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Name: "a.b", Data: data}}}
				if err := stream.SendMsg(m); err != nil {
					b.Fatal(err)
				}
			}
			if err := stream.CloseSend(); err != nil {
				b.Fatal(err)
			}
			if err := stream.RecvMsg(&messages.Reply{}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
