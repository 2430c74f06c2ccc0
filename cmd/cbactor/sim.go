package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/sim"
	"github.com/cbactor/cbactor/sched"
)

const simHelp = `Run the scheduler and the books of the cache over a load, without a model and in virtual time, and print
what waited, was given up, moved to the host pool and was shared. The load is a workload of a file, all at
once, or a random one: prompts of 16 to 272 tokens, 8 to 135 to generate. Tokens come from a plain function
of everything in the cache, so a block that is wrong anywhere changes the output: the run ends with an error
then.

The flags that an engine has, too, mean the same here; files of configuration and CBACTOR_* variables are not
read. ` + workloadFormat + `

With --svg block use, and requests running and waiting, are drawn over time.`

// simFlags are the flags of `cbactor sim`.
type simFlags struct {
	workload, name string
	shape          sim.Shape
	config         sched.Config
	costs          sim.Costs
	policy, svg    string
	overlapped     bool
	json           bool
}

func (c *cli) simCommand() *cobra.Command {
	f := &simFlags{}
	cmd := &cobra.Command{
		Use:     "sim",
		Short:   "Simulate a load on the scheduler in virtual time",
		Long:    simHelp,
		Example: "  cbactor sim --count 10000 --num-blocks 4096 --scheduler-type fifo --svg blocks.svg",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.sim(cmd.Flags(), f) },
	}
	fs := cmd.Flags()
	fs.SetNormalizeFunc(simNames)
	fs.Var(pathFlag{path: &f.workload}, "workload", "workload file (default with --name: the project's workloads)")
	fs.StringVar(&f.name, "name", "", "name of the workload, if there are several; neither it nor a file: a random load")
	fs.Uint64Var(&f.shape.Seed, "seed", 1, "seed of the random load")
	fs.StringVar(&f.policy, "scheduler-type", "fifo", "order of requests: "+strings.Join(policyNames(), ", "))
	fs.BoolVar(&f.config.Sharing, "allow-block-sharing", true, "let requests share equal beginnings")
	fs.BoolVar(&f.overlapped, "use-async-batching", true, "plan a step while the one before runs")
	fs.BoolVar(&f.config.Overlap, "overlap-copies", false, "copies from the host pool run beside the rows of a step")
	for _, n := range f.numbers() {
		n.add(fs)
	}
	fs.Var(pathFlag{&f.svg, true}, "svg", "draw block use over time into this file; of what is there only an older chart is replaced")
	fs.BoolVar(&f.json, "json", false, "write the figures as JSON")
	complete(cmd, "scheduler-type", policyNames)
	return cmd
}

// either names what there is to choose from.
func either(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// simNames are shorter names that some flags have, too.
func simNames(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "blocks":
		name = "num-blocks"
	case "policy":
		name = "scheduler-type"
	}
	return pflag.NormalizedName(name)
}

// check refuses what cannot be simulated, and decides what follows from the policy and
// from bounds that numbers have on each other, which it says.
func (f *simFlags) check(c *cli, fs *pflag.FlagSet) error {
	policy, ok := sched.Policies[f.policy]
	if !ok {
		return badUsage("--scheduler-type is %q: must be %s", f.policy, either(policyNames()))
	}
	if policy == sched.PrefillFirst && !fs.Changed("safety-margin") {
		f.config.Margin = 0
	}
	for _, n := range f.numbers() {
		if err := n.check(); err != nil {
			return err
		}
	}
	if f.config.MaxSlots > f.config.MaxTokens {
		if fs.Changed("max-requests-per-batch") {
			c.say("warning: --max-requests-per-batch is %d, lowered to %d: --max-batch-tokens", f.config.MaxSlots, f.config.MaxTokens)
		}
		f.config.MaxSlots = f.config.MaxTokens
	}
	f.config.Policy, f.config.Depth = policy, 1
	if f.overlapped {
		f.config.Depth = 2
	}
	if f.workload == "" && f.name == "" {
		return nil
	}
	for _, name := range []string{"count", "rate", "shared", "seed"} {
		if fs.Changed(name) {
			return badUsage("--%s is for a random load, and the workload is none: leave it out", name)
		}
	}
	return nil
}

func (c *cli) sim(fs *pflag.FlagSet, f *simFlags) error {
	if err := f.check(c, fs); err != nil {
		return err
	}
	load, err := f.load()
	if err != nil {
		return err
	}
	report, err := sim.Run(sim.Config{Sched: f.config, Costs: f.costs}, load)
	switch {
	case errors.Is(err, sim.ErrLoad):
		return usageError{error: err}
	case err != nil:
		return err
	}
	if f.svg != "" {
		if err := c.writeSVG(f.svg, report); err != nil {
			return err
		}
	}
	if f.json {
		return json.NewEncoder(c.stdout).Encode(report)
	}
	return report.Write(c.stdout)
}

// load is the requests to simulate.
func (f *simFlags) load() ([]sim.Request, error) {
	if f.workload == "" && f.name == "" {
		return sim.Load(f.shape), nil
	}
	cases, _, err := readCases(f.workload, f.name)
	load := make([]sim.Request, len(cases))
	for i, k := range cases {
		load[i] = sim.Request{Prompt: k.Prompt, MaxNew: k.MaxNew, Priority: k.Priority}
	}
	return load, err
}

func (c *cli) writeSVG(path string, r *sim.Report) (err error) {
	isOwn := func(head []byte) bool { return bytes.HasPrefix(head, []byte(sim.Mark)) }
	file, err := makeFile("--svg", path, "chart of cbactor sim", isOwn, []*os.File{c.stdout, c.stderr}...)
	if err != nil {
		return err
	}
	if err := r.WriteSVG(file); err != nil {
		return fmt.Errorf("--svg: %w", errors.Join(err, file.Close()))
	}
	return file.Close()
}
