package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/remote"
)

func (c *cli) statusCommand() *cobra.Command {
	f := &connectFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what an engine that is served does",
		Example: "  cbactor status --connect localhost:7070",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.connected(cmd, f, func(ctx context.Context, e *remote.Client) error { return c.status(ctx, e, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write it as JSON")
	f.add(cmd)
	return cmd
}

// engineStatus is what an engine does as it is shown.
type engineStatus struct {
	Mode     string          `json:"mode"`
	Holders  int             `json:"holders"` // of a pause
	Asleep   []string        `json:"asleep"`  // parts of its memory
	Version  string          `json:"version"`
	Kept     string          `json:"kept"` // version for a rollback; "": none
	Executor string          `json:"executor"`
	Compute  string          `json:"compute"`
	KVType   string          `json:"kv_dtype"`
	Adapters []adapterStatus `json:"adapters"`
	Metrics  engine.Metrics  `json:"metrics"`
}

// adapterStatus is an adapter that requests may name.
type adapterStatus struct {
	Name    string   `json:"name"`
	Rank    int      `json:"rank"`
	Modules []string `json:"modules"`
}

func newEngineStatus(now remote.State, info engine.Info) engineStatus {
	s := engineStatus{Mode: now.Mode, Holders: now.Holders, Asleep: []string{}, Version: now.Version, Kept: now.Kept,
		Executor: info.Executor, Compute: info.Compute, KVType: info.KVType, Adapters: []adapterStatus{}, Metrics: now.Metrics}
	for _, part := range []struct {
		part engine.Part
		name string
	}{{engine.KV, "cache"}, {engine.Weights, "weights"}} {
		if now.Asleep&part.part != 0 {
			s.Asleep = append(s.Asleep, part.name)
		}
	}
	for _, a := range now.Adapters {
		s.Adapters = append(s.Adapters, adapterStatus{a.Name, a.Rank, a.Modules})
	}
	return s
}

func (c *cli) status(ctx context.Context, e *remote.Client, asJSON bool) error {
	now, err := e.State(ctx)
	if err != nil {
		return err
	}
	s := newEngineStatus(now, e.Info())
	if asJSON {
		return c.printJSON(s)
	}
	rows := [][]string{{"mode", s.Mode}}
	if s.Holders > 0 {
		rows = append(rows, []string{"paused by", words.Count(s.Holders, "holder")})
	}
	if len(s.Asleep) > 0 {
		rows = append(rows, []string{"asleep", strings.Join(s.Asleep, " and ")})
	}
	rows = append(rows, versionRows(now)...)
	rows = append(rows, []string{"executor", s.Executor})
	if s.Compute != "" {
		rows = append(rows, []string{"compute", s.Compute + ", cache in " + s.KVType})
	}
	for _, a := range s.Adapters {
		rows = append(rows, []string{"adapter", fmt.Sprintf("%s, of rank %d", a.Name, a.Rank)})
	}
	return c.print(columns("Engine", append(rows, metricRows(s.Metrics)...)))
}

// metricRows are the numbers that somebody wants at a glance.
func metricRows(m engine.Metrics) [][]string {
	return [][]string{
		{"sequences", fmt.Sprintf("%d running, %d waiting, %d in line for room; %d accepted so far", m.Running, m.Waiting, m.InLine, m.Accepted)},
		{"tokens", fmt.Sprintf("%d generated, %d of prompts (%d cached), in %d steps", m.GeneratedTokens, m.PromptTokens, m.CachedTokens, m.Steps)},
		{"blocks", fmt.Sprintf("%d of %d free", m.BlocksFree, m.Blocks)},
	}
}
