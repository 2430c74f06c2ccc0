package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/engine"
)

const configHelp = `Show the configuration that an engine would run with, where each value comes from, and the memory that it
would take. Nothing is started, and the weights are not read.

Values come from flags (--page-size 16), else from the environment (CBACTOR_PAGE_SIZE=16), else from the YAML
file of --config (page_size: 16), else they are defaults or follow from the model, the memory and each other.

generate and bench know their requests, which are hints, so that they may run with fewer sequences and blocks
than this shows: --hints requests=N shows what that gives. On a CPU a hint of the lengths, max_prompt=N,max_new=N,
changes nothing, as a request may be longer than hinted; on a GPU it makes block tables as wide.`

func (c *cli) configCommand() *cobra.Command {
	f := &engineFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show the resolved configuration and the memory plan",
		Long:    configHelp,
		Example: "  cbactor config --model smollm2 --config cbactor.yaml",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return c.planned(f, func(_ *checkpoint.Checkpoint, r *engine.Resolved) error { return c.config(r, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write it as JSON")
	f.add(cmd)
	return cmd
}

func (c *cli) config(r *engine.Resolved, asJSON bool) error {
	planned, err := r.Info()
	if err != nil {
		return err
	}
	plan, settings := newMemoryPlan(r), r.Settings()
	for i := range settings {
		if s := &settings[i]; s.Name == "seed" && s.From == "random" {
			s.Value, s.From = nil, "drawn at each start"
		}
	}
	if asJSON {
		return c.printJSON(struct {
			Settings []engine.Setting `json:"settings"`
			Executor string           `json:"executor"`
			Memory   memoryPlan       `json:"memory"`
			Notices  []string         `json:"notices"`
		}{settings, planned.Executor, plan, append([]string{}, r.Notices...)})
	}
	return c.print(settingsTable(settings) + columns("Executor", [][]string{{planned.Executor}}) + plan.String())
}

// settingsTable shows the fields, those without effect last.
func settingsTable(list []engine.Setting) string {
	var active, idle [][]string
	for _, s := range list {
		row := []string{s.Name, s.Text(), s.From}
		if s.Idle {
			idle = append(idle, row)
		} else {
			active = append(active, row)
		}
	}
	return columns("Configuration", active) + columns("Without effect here", idle)
}

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
}

func newMemoryPlan(r *engine.Resolved) memoryPlan {
	m, e := r.Memory, r.Memory.Executor
	return memoryPlan{
		Limit: m.Limit, Resident: m.Resident, Usable: m.Usable, WeightsStored: m.WeightSet, WeightsPacked: e.Weights, SecondSet: m.NextSet + e.NextSet,
		Cache: e.KV, Blocks: e.Blocks, BlockBytes: e.BlockBytes, TokenBytes: e.BlockBytes / int64(max(1, r.Config.PageSize)), Sequences: e.Slots, Work: e.Work, Sampling: e.Sampling,
		Adapters: e.Adapters,
		HostPool: e.Host, Total: m.Total(),
	}
}

// String is the plan in lines of text.
func (m memoryPlan) String() string {
	rows := [][]string{
		{"limit", "not known", ""},
		{"weights, as stored", mebibytes(m.WeightsStored), ""},
		{"weights, packed", mebibytes(m.WeightsPacked), ""},
		{"second weight set", mebibytes(m.SecondSet), "weight_sets, taken by updates"},
		{"cache", mebibytes(m.Cache), fmt.Sprintf("%s of %d bytes, touched as they are used; %d a token", words.Count(m.Blocks, "block"), m.BlockBytes, m.TokenBytes)},
		{"sequences", mebibytes(m.Sequences), "touched as they are used"},
		{"work of a step", mebibytes(m.Work), ""},
		{"sampling", mebibytes(m.Sampling), ""},
		{"adapters", mebibytes(m.Adapters), "touched as they are loaded"},
		{"host pool", mebibytes(m.HostPool), "cpu_offload_space, beside what is usable"},
		{"total", mebibytes(m.Total), ""},
	}
	if m.Limit > 0 {
		rows[0] = []string{"limit", mebibytes(m.Limit), "of the control group, else of the computer"}
		rows = append(rows[:1], append([][]string{
			{"in use before", mebibytes(m.Resident), ""},
			{"usable", mebibytes(m.Usable), "max_memory_percent of the rest"},
		}, rows[1:]...)...)
	}
	return columns("Memory", rows)
}
