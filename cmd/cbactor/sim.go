package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/sim"
	"github.com/cbactor/cbactor/sched"
)

const simHelp = `Run the scheduler and the books of the cache over a load, without a model and in virtual time, and print
what waited, was given up, moved to the host pool and was shared. The load is a workload of a file, all at
once, or a random one. Tokens come from a plain function of everything in the cache, so a block that is
wrong anywhere changes the output: the run ends with an error then.`

// simFlags are the flags of `cbactor sim`.
type simFlags struct {
	workload, name string
	shape          sim.Shape
	config         sched.Config
	costs          sim.Costs
	policy, svg    string
	json           bool
}

func (c *cli) simCommand() *cobra.Command {
	f := &simFlags{}
	cmd := &cobra.Command{
		Use:     "sim",
		Short:   "Simulate a load on the scheduler in virtual time",
		Long:    simHelp,
		Example: "  cbactor sim --count 10000 --blocks 4096 --policy fifo --svg blocks.svg",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.sim(f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.workload, "workload", "", "workload file (default with --name: the project's workloads)")
	fs.StringVar(&f.name, "name", "", "name of the workload; none: a random load")
	fs.IntVar(&f.shape.Count, "count", 1000, "requests of the random load")
	fs.Float64Var(&f.shape.Rate, "rate", 0, "arrivals a virtual second; 0: all at once")
	fs.Float64Var(&f.shape.Shared, "shared", 0.5, "share of the requests that begin with one of eight texts")
	fs.Uint64Var(&f.shape.Seed, "seed", 1, "seed of the random load")
	fs.StringVar(&f.policy, "policy", "fifo", "fifo, prefill_first or priority")
	fs.IntVar(&f.config.Blocks, "blocks", 4096, "cache blocks")
	fs.IntVar(&f.config.PageSize, "page-size", 16, "tokens of a block")
	fs.IntVar(&f.config.Host, "host-blocks", 0, "blocks of the host pool")
	fs.IntVar(&f.config.MaxTokens, "max-batch-tokens", 512, "tokens of a step")
	fs.IntVar(&f.config.MaxSlots, "max-requests-per-batch", 128, "requests that run at a time")
	fs.IntVar(&f.config.Depth, "depth", 2, "batches in flight, 1 or 2")
	fs.BoolVar(&f.config.Sharing, "allow-block-sharing", true, "let requests share equal beginnings")
	margin := fs.Float64("safety-margin", 0.15, "share of the blocks that a new request leaves free")
	fs.Float64Var(&f.costs.Step, "step-cost", 2e-3, "virtual seconds of a step")
	fs.Float64Var(&f.costs.Token, "token-cost", 2e-4, "virtual seconds of a token")
	fs.Float64Var(&f.costs.Read, "read-cost", 2e-7, "virtual seconds of a cache position read")
	fs.Float64Var(&f.costs.Copy, "copy-cost", 1e-4, "virtual seconds of a block copied")
	fs.BoolVar(&f.config.Overlap, "overlap-copies", false, "copies from the host pool run beside the rows of a step")
	fs.StringVar(&f.svg, "svg", "", "draw block use over time into this file")
	fs.BoolVar(&f.json, "json", false, "write the figures as JSON")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		f.config.Margin = int(*margin * float64(f.config.Blocks))
		return f.check(*margin)
	}
	complete(cmd, "policy", func() []string { return slices.Sorted(maps.Keys(sched.Policies)) })
	return cmd
}

func (f *simFlags) check(margin float64) error {
	policy, ok := sched.Policies[f.policy]
	if !ok {
		return badUsage("--policy is %q: must be fifo, prefill_first or priority", f.policy)
	}
	f.config.Policy = policy
	for _, n := range []struct {
		name       string
		value, low int
		top        int
	}{
		{"count", f.shape.Count, 1, 10_000_000}, {"blocks", f.config.Blocks, 1, 1 << 24}, {"page-size", f.config.PageSize, 1, 4096},
		{"host-blocks", f.config.Host, 0, 1 << 24}, {"max-requests-per-batch", f.config.MaxSlots, 1, 1 << 16},
		{"max-batch-tokens", f.config.MaxTokens, f.config.MaxSlots, 1 << 20}, {"depth", f.config.Depth, 1, 2},
	} {
		if n.value < n.low || n.value > n.top {
			return badUsage("--%s is %d: must be from %d to %d", n.name, n.value, n.low, n.top)
		}
	}
	if !(margin >= 0 && margin <= 1) || !(f.shape.Rate >= 0) || !(f.shape.Shared >= 0 && f.shape.Shared <= 1) {
		return badUsage("--safety-margin and --shared must be from 0 to 1, --rate 0 or more")
	}
	if c := f.costs; !(c.Step > 0 && c.Token >= 0 && c.Read >= 0 && c.Copy >= 0) {
		return badUsage("costs must be 0 or more, that of a step above 0")
	}
	return nil
}

func (c *cli) sim(f *simFlags) error {
	load := sim.Load(f.shape)
	if f.name != "" {
		cases, err := readCases(f.workload, f.name)
		if err != nil {
			return err
		}
		load = load[:0]
		for _, k := range cases {
			load = append(load, sim.Request{Prompt: k.Prompt, MaxNew: k.MaxNew})
		}
	}
	report, err := sim.Run(sim.Config{Sched: f.config, Costs: f.costs}, load)
	if err != nil {
		return err
	}
	if f.svg != "" {
		if err := writeSVG(f.svg, report); err != nil {
			return err
		}
	}
	if f.json {
		return json.NewEncoder(c.stdout).Encode(report)
	}
	return report.Write(c.stdout)
}

func writeSVG(path string, r *sim.Report) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	if err := r.WriteSVG(file); err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	return file.Close()
}
