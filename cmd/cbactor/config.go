package main

import (
	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

const configHelp = `Show the configuration that an engine would run with, where each value comes from, and the memory that it
would take. Nothing is started, and the weights are not read.

Values come from flags (--page-size 16), else from the environment (CBACTOR_PAGE_SIZE=16), else from the YAML
file of --config (page_size: 16), else they are defaults or follow from the model, the memory and each other.

generate and bench know their requests, which are hints, so that they may run with fewer sequences and blocks
than this shows: --hints requests=N shows what that gives. A hint of the lengths, max_prompt=N,max_new=N, changes
nothing, as a request may be longer than hinted.`

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
