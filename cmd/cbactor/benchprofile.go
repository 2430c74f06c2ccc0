package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/profile"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/internal/charts"
)

// profileHelp is about bench with --profile.
const profileHelp = `With --profile it is told where the time of steps goes, for steps that decode, that compute prompts, and that do
both: operation by operation, how often, how long, how much arithmetic and how much reading that is, and which share
of the limit that binds it. The limits are measured in the same run, behind the workload, on as many threads: reading
memory and the last-level cache, and multiplying and adding in f32 and int8. Noting the time costs a percent or two.
With --svg FILE the same is drawn as a roofline.`

// profileFlags are the flags of bench that say what is told of steps.
type profileFlags struct {
	on      bool
	svg     string
	profile cpuexec.Profile
}

func (f *profileFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.on, "profile", false, "tell where the time of steps goes, against the limits of the machine")
	fs.Var(pathFlag{&f.svg, true}, "svg", "with --profile, draw a roofline into this file; of what is there only an older chart is replaced")
}

// check refuses flags that would have no effect.
func (f *profileFlags) check(cmd *cobra.Command) error {
	if f.svg != "" && !f.on {
		return badUsage("--svg is for --profile: give that, too")
	}
	if update := cmd.Flags().Lookup("update"); f.on && update.Changed {
		return badUsage("--update has figures of its own: leave --profile out")
	}
	return nil
}

// wanted is what the engine is to fill; nil: nothing.
func (f *profileFlags) wanted() *cpuexec.Profile {
	if !f.on {
		return nil
	}
	return &f.profile
}

// begin forgets what has been noted until now.
func (f *profileFlags) begin() { f.profile.Reset() }

// openChart makes the file of --svg, which no other file of the run may be; nil: there is
// none.
func (c *cli) openChart(f *benchFlags) (*madeFile, error) {
	if f.profile.svg == "" {
		return nil, nil
	}
	isOwn := func(head []byte) bool { return bytes.HasPrefix(head, []byte(charts.Mark)) }
	file, err := makeFile("--svg", f.profile.svg, "chart of cbactor bench", isOwn, []*os.File{c.stdout, c.stderr}...)
	if err != nil {
		return nil, err
	}
	f.engine.taken = append(f.engine.taken, file.File)
	return file, nil
}

// addProfile puts what was noted into a measurement, beside what the machine can do, and
// draws it, where there is a chart.
func (c *cli) addProfile(m *measurement, f *benchFlags, chart *madeFile) error {
	if !f.profile.on {
		return nil
	}
	defer c.notice("measuring the machine")()
	machine, err := cpuexec.MeasureMachine(cpuexec.Config{Threads: max(1, m.Threads/max(1, f.engine.config.TensorParallelSize)), Pin: f.engine.config.Pin})
	if err != nil {
		return fmt.Errorf("measure the machine: %w", err)
	}
	report := profile.New(&f.profile.profile, machine)
	m.Profile = &report
	if chart == nil {
		return nil
	}
	if _, err := chart.Write(report.SVG(fmt.Sprintf("%s, workload %s, %s", m.Model, m.Workload, m.Executor))); err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	return nil
}
