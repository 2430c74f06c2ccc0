package profile

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/cpuexec"
)

// report is of steps with two products: one that reads much, one of integers that does
// not; and of norms, of which nothing is counted.
func report(footprint int64) Report {
	s := cpuexec.Steps{Steps: 10, Threads: 20, Rows: 320, Tokens: 320, Time: 20 * time.Millisecond, Between: time.Millisecond, Gaps: 5, Footprint: 10 * footprint}
	s.Work[cpuexec.OpNorm] = cpuexec.Work{Calls: 610, Time: time.Millisecond}
	s.Work[cpuexec.OpQKV] = cpuexec.Work{Calls: 300, Time: 14 * time.Millisecond, Ops: 1_400_000_000, Bytes: 280_000_000}
	s.Work[cpuexec.OpHead] = cpuexec.Work{Calls: 10, Time: 5 * time.Millisecond, Ops: 5_000_000_000, Bytes: 5_000_000, Integer: true}
	s.Work[cpuexec.OpWait] = cpuexec.Work{Calls: 610, Time: 200 * time.Microsecond}
	s.LongestWait = 70 * time.Microsecond
	m := Machine{Kernels: "avx512", Threads: 2, F32: 400, Int8: 2000, Memory: 30, MemoryBuffer: 1 << 30, Cache: 60, CacheBuffer: 64 << 20, LastLevelCache: 480 << 20}
	return Report{Machine: m, Steps: []Steps{m.steps(cpuexec.Decode, &s)}}
}

// Figures are of a step and of a second, and each operation is held against the limit that
// binds it.
func TestReport(t *testing.T) {
	s := report(28_000_000).Steps[0]
	if s.Seconds != 2e-3 || s.Engine != 200e-6 || s.Threads != 2 || s.Rows != 32 || s.Bandwidth != "cache" {
		t.Errorf("%+v", s)
	}
	for i, want := range []Operation{
		{Name: "norm", Calls: 61, Seconds: 1e-4, Share: 0.05},
		{Name: "qkv", Calls: 30, Seconds: 1.4e-3, Share: 0.7, Ops: 1.4e8, Bytes: 2.8e7, GOps: 100, GBytes: 20, Limit: "cache", ShareOfLimit: 20. / 60},
		{Name: "head", Calls: 1, Seconds: 5e-4, Share: 0.25, Ops: 5e8, Bytes: 5e5, GOps: 1000, GBytes: 1, Limit: "int8", ShareOfLimit: 0.5},
	} {
		got := s.Operations[i]
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
		if got.Name != want.Name || got.Limit != want.Limit || !near(got.Calls, want.Calls) || !near(got.Seconds, want.Seconds) || !near(got.Share, want.Share) ||
			!near(got.GOps, want.GOps) || !near(got.GBytes, want.GBytes) || !near(got.ShareOfLimit, want.ShareOfLimit) || got.Ops != want.Ops || got.Bytes != want.Bytes {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	// What a cache does not keep until the next step comes from memory.
	if s := report(250 << 20).Steps[0]; s.Bandwidth != "memory" || s.Operations[1].Limit != "memory" {
		t.Errorf("%+v", s)
	}
}

// The table has a line for each operation, and the limits behind it.
func TestText(t *testing.T) {
	want := `decode: 10 steps of 32 rows with 32 tokens, 2.000 ms each on 2 threads, behind 200.0 µs of the engine
  operation    calls     a step   share    GOP/s     GB/s  of the limit
  norm            61   100.0 µs   5.0 %
  qkv             30   1.400 ms  70.0 %      100       20   33 % of cache
  head             1   500.0 µs  25.0 %     1000        1   50 % of int8
  waiting         61    20.0 µs   1.0 %, the longest time 70.0 µs

The machine, measured with avx512 on 2 threads: f32 400 GOP/s, int8 2000 GOP/s,
  memory 30 GB/s, reading 1024 MiB; cache 60 GB/s, reading 64 MiB of a last level of 480 MiB
`
	if got := report(28_000_000).String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The roofline is XML with a point for each operation that is counted.
func TestSVG(t *testing.T) {
	d, points := xml.NewDecoder(strings.NewReader(string(report(28_000_000).SVG("a <model>")))), 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			points++
		}
	}
	if points != 2 {
		t.Errorf("%d points", points)
	}
}

// All of it can be JSON, also where there was no step.
func TestJSON(t *testing.T) {
	for _, r := range []Report{report(1), New(new(cpuexec.Profile), cpuexec.Machine{})} {
		if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), `"machine":{"kernels"`) {
			t.Errorf("%s, %v", text, err)
		}
	}
}
