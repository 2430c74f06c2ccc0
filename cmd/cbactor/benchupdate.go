package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/updates"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// updateHelp is about bench with --update.
const updateHelp = `With --update it is measured what updates of the weights cost: 16 requests decode all the time, first without
updates, then with them, then without again. An update beforehand does not count. Then come pauses, an update of a tenth of the tensors, after
which caches are computed again, and updates in place. What is sent are the model's own weights, so it must be stored
as f32, f16 or bf16, and memory must hold them four times.`

// The load of --update.
const (
	updateRequests = 16
	updateTokens   = 256
)

// updateFlags are the flags of bench that say how to update.
type updateFlags struct {
	on    bool
	count int
	every time.Duration
}

func (f *updateFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.on, "update", false, "measure updates of the weights instead of a workload")
	fs.IntVar(&f.count, "update-count", 10, "with --update, how many there are")
	fs.DurationVar(&f.every, "update-every", 3*time.Second, "with --update, time from the begin of one to that of the next")
}

// check refuses flags that would have no effect or make no sense.
func (f *updateFlags) check(cmd *cobra.Command) error {
	without, with := []string{"update-count", "update-every"}, []string{"workload", "name"}
	for _, name := range without {
		if !f.on && cmd.Flags().Changed(name) {
			return badUsage("--%s is for --update: give that, too", name)
		}
	}
	for _, name := range with {
		if f.on && cmd.Flags().Changed(name) {
			return badUsage("--update has a load of its own: leave --%s out", name)
		}
	}
	if f.count < 1 || f.count > 1000 {
		return badUsage("--update-count is %d, must be from 1 to 1000", f.count)
	}
	if f.every <= 0 || f.every > time.Hour {
		return badUsage("--update-every is %s, must be more than 0 and at most 1h", f.every)
	}
	return nil
}

// updateMeasurement is what `cbactor bench --update` prints.
type updateMeasurement struct {
	Engine     string `json:"engine"`
	Model      string `json:"model"`
	Compute    string `json:"compute"`
	KVType     string `json:"kv_dtype"`
	Threads    int    `json:"threads"`
	Executor   string `json:"executor"`
	WeightSets any    `json:"weight_sets"`
	*updates.Report
}

// benchUpdate measures updates.
func (c *cli) benchUpdate(cmd *cobra.Command, f *benchFlags) (err error) {
	model, err := openModel(f.engine.model)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	ctx, stop := c.interrupts(cmd.Context(), cancelling)
	defer stop()
	set, err := wait(ctx, c, "reading model "+f.engine.model, func() (*weights.Set, error) {
		return weights.Load(model.Config, model, 1, "")
	})
	if err != nil {
		return err
	}
	m, err := c.measureUpdates(ctx, cmd, f, model, set)
	if errors.Is(err, weights.ErrDType) {
		return badUsage("--update: %w", err)
	}
	if err != nil {
		return ended(ctx, err)
	}
	if f.json {
		return c.printJSON(m)
	}
	var b strings.Builder
	if err := m.Write(&b); err != nil {
		return err
	}
	return c.print(b.String())
}

// measureUpdates measures those of an engine, which lasts as long.
func (c *cli) measureUpdates(ctx context.Context, cmd *cobra.Command, f *benchFlags, model *checkpoint.Checkpoint, set *weights.Set) (m updateMeasurement, err error) {
	load := make([]engine.Request, updateRequests)
	for i := range load {
		load[i] = engine.Request{PromptIDs: make([]int32, updates.PromptTokens), MaxNewTokens: updateTokens}
	}
	e, err := wait(ctx, c, "packing model "+f.engine.model, func() (*engine.Engine, error) {
		return c.spawn(cmd, &f.engine, model, engine.HintsOf(load))
	})
	if err != nil {
		return m, err
	}
	defer closeEngine(e, "stop the engine", &err)
	info := e.Info()
	if err := fits(load, info); err != nil {
		return m, err
	}
	m = updateMeasurement{Engine: "cbactor", Model: f.engine.model, Compute: info.Compute, KVType: info.KVType, Threads: info.Threads, Executor: info.Executor,
		WeightSets: settingOf(info, "weight_sets")}
	o := updates.Options{Requests: updateRequests, Tokens: updateTokens, Updates: f.update.count, Every: f.update.every}
	if m.Report, err = updates.Run(ctx, e, set, o, func(what string) { c.say("%s", what) }); err != nil {
		return m, err
	}
	c.say("updates in place")
	m.Overwrite, err = updates.MeasureOverwrite(ctx, e, set)
	return m, err
}
