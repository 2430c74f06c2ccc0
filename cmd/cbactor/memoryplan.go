package main

import (
	"fmt"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// memoryPlan is the memory as it is shown, in bytes.
type memoryPlan struct {
	Limit         int64 `json:"limit"` // 0: not known
	Resident      int64 `json:"resident"`
	Usable        int64 `json:"usable"`
	WeightsStored int64 `json:"weights_stored"`
	WeightsPacked int64 `json:"weights_packed"`
	SecondSet     int64 `json:"second_set"`
	Cache         int64 `json:"cache"`
	Blocks        int   `json:"blocks"`
	BlockBytes    int64 `json:"block_bytes"`
	TokenBytes    int64 `json:"token_bytes"` // of the cache, for each token
	Sequences     int64 `json:"sequences"`
	Work          int64 `json:"work"`
	Sampling      int64 `json:"sampling"`
	Adapters      int64 `json:"adapters"`
	HostPool      int64 `json:"host_pool"`
	Total         int64 `json:"total"`

	Device *devicePlan `json:"device,omitempty"` // of the GPU that computes; then what is not there is the host's
}

// devicePlan is the memory of a GPU.
type devicePlan struct {
	Name      string `json:"name"`
	Memory    int64  `json:"memory"`
	Free      int64  `json:"free"`
	Usable    int64  `json:"usable"`
	Weights   int64  `json:"weights"`
	SecondSet int64  `json:"second_set"`
	Cache     int64  `json:"cache"`
	Work      int64  `json:"work"`
	Staging   int64  `json:"staging"` // of blocks on their way to the host pool
	Graphs    int64  `json:"graphs"`  // left to the driver
	Total     int64  `json:"total"`
}

func newMemoryPlan(r *engine.Resolved) memoryPlan {
	m, e := r.Memory, r.Memory.Executor
	plan := memoryPlan{
		Limit: m.Limit, Resident: m.Resident, Usable: m.Usable, WeightsStored: m.WeightSet, WeightsPacked: e.Weights, SecondSet: m.NextSet + e.NextSet,
		Cache: e.KV, Sequences: e.Slots, Work: e.Work, Sampling: e.Sampling, Adapters: e.Adapters, HostPool: e.Host, Total: m.Total(),
	}
	pool := e.Pool
	if d := &m.Device; d.Memory > 0 {
		g := &d.Executor
		plan.Work, plan.HostPool, pool = g.Pinned, g.Host, g.Pool
		plan.Device = &devicePlan{
			Name: string(r.Config.Device), Memory: d.Memory, Free: d.Free, Usable: d.Usable,
			Weights: g.Weights, SecondSet: g.NextSet, Cache: g.KV, Work: g.Work, Staging: g.Staging, Graphs: g.Graphs, Total: g.Device(),
		}
	}
	plan.Blocks, plan.BlockBytes, plan.TokenBytes = pool.Blocks, pool.BlockBytes, tokenBytes(&pool)
	return plan
}

// tokenBytes is what a token of a cache takes.
func tokenBytes(p *executor.Pool) int64 { return p.BlockBytes / int64(max(1, p.PageSize)) }

// String is the plan in lines of text.
func (m memoryPlan) String() string {
	rows := [][]string{{"limit", "not known", ""}}
	if m.Limit > 0 {
		rows = [][]string{
			{"limit", mebibytes(m.Limit), "of the control group, else of the computer"},
			{"in use before", mebibytes(m.Resident), ""},
			{"usable", mebibytes(m.Usable), "max_memory_percent of the rest"},
		}
	}
	rows = append(rows, []string{"weights, as stored", mebibytes(m.WeightsStored), ""})
	if m.Device != nil {
		return columns("Memory of the host", append(rows, [][]string{
			{"second weight set", mebibytes(m.SecondSet), "weight_sets, taken by updates"},
			{"to the GPU and back", mebibytes(m.Work), ""},
			{"host pool", mebibytes(m.HostPool), "cpu_offload_space, beside what is usable"},
			{"total", mebibytes(m.Total), ""},
		}...)) + m.Device.rows(m.cache("taken at once"))
	}
	return columns("Memory", append(rows, [][]string{
		{"weights, packed", mebibytes(m.WeightsPacked), ""},
		{"second weight set", mebibytes(m.SecondSet), "weight_sets, taken by updates"},
		{"cache", mebibytes(m.Cache), m.cache("touched as they are used")},
		{"sequences", mebibytes(m.Sequences), "touched as they are used"},
		{"work of a step", mebibytes(m.Work), ""},
		{"sampling", mebibytes(m.Sampling), ""},
		{"adapters", mebibytes(m.Adapters), "touched as they are loaded"},
		{"host pool", mebibytes(m.HostPool), "cpu_offload_space, beside what is usable"},
		{"total", mebibytes(m.Total), ""},
	}...))
}

// cache says what the cache has, and when its memory is taken.
func (m memoryPlan) cache(taken string) string {
	return fmt.Sprintf("%s of %d bytes, %s; %d a token", words.Count(m.Blocks, "block"), m.BlockBytes, taken, m.TokenBytes)
}

// rows is the plan of a GPU in lines of text.
func (d *devicePlan) rows(cache string) string {
	return columns("Memory of "+d.Name, [][]string{
		{"of the device", mebibytes(d.Memory), ""},
		{"free", mebibytes(d.Free), ""},
		{"usable", mebibytes(d.Usable), "max_memory_percent of what is free"},
		{"weights", mebibytes(d.Weights), ""},
		{"second weight set", mebibytes(d.SecondSet), "weight_sets"},
		{"cache", mebibytes(d.Cache), cache},
		{"work of steps", mebibytes(d.Work), ""},
		{"to the host pool", mebibytes(d.Staging), "blocks on their way"},
		{"graphs", mebibytes(d.Graphs), "left to the driver"},
		{"total", mebibytes(d.Total), ""},
	})
}
