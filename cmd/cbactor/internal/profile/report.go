package profile

import (
	"time"

	"github.com/cbactor/cbactor/cpuexec"
)

// Report is a profile beside what the machine can do.
type Report struct {
	Machine Machine `json:"machine"`
	Steps   []Steps `json:"steps"` // of each kind that there was
}

// Machine is what its threads reach together.
type Machine struct {
	Kernels        string  `json:"kernels"`
	Threads        int     `json:"threads"`
	F32            float64 `json:"f32_gop_per_s"`
	Int8           float64 `json:"int8_gop_per_s"`
	Memory         float64 `json:"memory_gb_per_s"`
	MemoryBuffer   int64   `json:"memory_buffer_bytes"`
	Cache          float64 `json:"cache_gb_per_s"` // 0: not known, as the size
	CacheBuffer    int64   `json:"cache_buffer_bytes"`
	LastLevelCache int64   `json:"last_level_cache_bytes"`
}

// Steps are those of one kind. What they and their operations have is of a step, on
// average.
type Steps struct {
	Kind        string      `json:"kind"`
	Steps       int64       `json:"steps"`
	Rows        float64     `json:"rows"`
	Tokens      float64     `json:"tokens"`
	Threads     float64     `json:"threads"`
	Seconds     float64     `json:"seconds"`
	Engine      float64     `json:"engine_seconds"`       // between steps, where there was one before
	LongestWait float64     `json:"longest_wait_seconds"` // of a thread at one barrier, of all steps
	Footprint   float64     `json:"footprint_bytes"`      // of the weights and the cache that a step reads
	Bandwidth   string      `json:"bandwidth"`            // what is read is held against: cache or memory
	Operations  []Operation `json:"operations"`
}

// Operation is one of them.
type Operation struct {
	Name    string  `json:"name"`
	Calls   float64 `json:"calls"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"` // of the step
	Ops     float64 `json:"ops"`   // additions and multiplications
	Bytes   float64 `json:"bytes"` // read of weights and cache
	GOps    float64 `json:"gop_per_s"`
	GBytes  float64 `json:"gb_per_s"`

	Limit        string  `json:"limit"` // that binds: int8, f32, cache or memory; "": nothing is counted
	ShareOfLimit float64 `json:"share_of_limit"`
}

// New makes a Report of what was noted.
func New(p *cpuexec.Profile, m cpuexec.Machine) Report {
	r := Report{Machine: Machine{Kernels: m.Kernels, Threads: m.Threads, F32: m.F32, Int8: m.Int8, Memory: m.Memory.Rate, MemoryBuffer: m.Memory.Buffer,
		Cache: m.Cache.Rate, CacheBuffer: m.Cache.Buffer, LastLevelCache: m.LastLevel}}
	for k := range cpuexec.StepKinds {
		if s := p.Of(k); s.Steps > 0 {
			r.Steps = append(r.Steps, r.Machine.steps(k, &s))
		}
	}
	return r
}

func (m *Machine) steps(k cpuexec.StepKind, s *cpuexec.Steps) Steps {
	n := float64(s.Steps)
	out := Steps{Kind: k.String(), Steps: s.Steps, Rows: float64(s.Rows) / n, Tokens: float64(s.Tokens) / n, Threads: float64(s.Threads) / n,
		Seconds: s.Time.Seconds() / n, Engine: s.Between.Seconds() / max(1, float64(s.Gaps)),
		LongestWait: s.LongestWait.Seconds(), Footprint: float64(s.Footprint) / n, Bandwidth: "memory"}
	if m.Cache > 0 && out.Footprint < float64(m.LastLevelCache)/2 {
		out.Bandwidth = "cache"
	}
	for op := range cpuexec.Operations {
		if w := &s.Work[op]; w.Time > 0 {
			out.Operations = append(out.Operations, m.operation(op, w, s, out.Bandwidth))
		}
	}
	return out
}

func (m *Machine) operation(op cpuexec.Operation, w *cpuexec.Work, s *cpuexec.Steps, bandwidth string) Operation {
	n := float64(s.Steps)
	o := Operation{Name: op.String(), Calls: float64(w.Calls) / n, Seconds: w.Time.Seconds() / n, Share: share(w.Time, s.Time),
		Ops: float64(w.Ops) / n, Bytes: float64(w.Bytes) / n}
	o.GOps, o.GBytes = o.Ops/o.Seconds/1e9, o.Bytes/o.Seconds/1e9
	if o.Ops == 0 {
		return o
	}
	peak, arithmetic := m.F32, "f32"
	if w.Integer {
		peak, arithmetic = m.Int8, "int8"
	}
	rate := m.Memory
	if bandwidth == "cache" {
		rate = m.Cache
	}
	o.Limit, o.ShareOfLimit = arithmetic, o.GOps/peak
	if read := o.GBytes / rate; read > o.ShareOfLimit { // it would take longer than the arithmetic
		o.Limit, o.ShareOfLimit = bandwidth, read
	}
	return o
}

func share(part, all time.Duration) float64 { return float64(part) / float64(all) }
