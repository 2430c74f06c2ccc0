package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/bench"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/engine"
)

// syntheticHelp is about bench with --batch and --context.
const syntheticHelp = `With --batch N and --context N it is measured how fast so many sequences decode side by side until each has that context, as
a point of a curve. Prompts are random ids, for any model; they are computed first, which is timed for itself, and stay in
the cache, so that the sequences begin together: blocks are for them alone, so that without --safety-margin no share of the
cache is left free. What is told of decoding is the median of three runs.`

const (
	maxBatch         = 1024
	maxContext       = 1 << 20
	syntheticTokens  = 64 // that a sequence generates, and what whole pages leave of its prompt
	syntheticRepeats = 3
)

// syntheticFlags are the flags of bench that make a workload up.
type syntheticFlags struct{ batch, context int }

func (f *syntheticFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&f.batch, "batch", 0, "measure so many sequences that decode side by side, instead of a workload")
	fs.IntVar(&f.context, "context", 0, "with --batch, tokens of each in the end, prompt and generated")
}

// on says whether a workload is to be made up.
func (f *syntheticFlags) on() bool { return f.batch != 0 }

// check refuses flags that would have no effect or make no sense.
func (f *syntheticFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if changed("batch") != changed("context") {
		return badUsage("--batch and --context belong together: give both")
	}
	if !changed("batch") {
		return nil
	}
	for _, name := range []string{"workload", "name", "update", "profile"} {
		if changed(name) {
			return badUsage("--batch measures sequences that are made up: leave --%s out, which is for workloads", name)
		}
	}
	if f.batch < 1 || f.batch > maxBatch {
		return badUsage("--batch is %d, must be from 1 to %d", f.batch, maxBatch)
	}
	if f.context < 2 || f.context > maxContext {
		return badUsage("--context is %d, must be from 2 to %d", f.context, maxContext)
	}
	return nil
}

// prompt is how many tokens of the context are prompt: the whole pages within all but
// syntheticTokens, or within half where that is more, and one token, so that with the pages
// in the cache the first step computes one row of each sequence, as the steps after it do.
func (f *syntheticFlags) prompt(pageSize int) int {
	before := f.context - min(syntheticTokens, f.context/2)
	return min(before/pageSize*pageSize+1, f.context-1)
}

// syntheticMeasurement is what bench with --batch prints: Seconds and GeneratedPerS are of
// decoding alone.
type syntheticMeasurement struct {
	measurement
	Batch       int     `json:"batch"`
	Context     int     `json:"context"`
	PrefillPerS float64 `json:"prefill_per_s"` // prompt tokens
}

// String is the measurement in a line of text.
func (m syntheticMeasurement) String() string {
	return fmt.Sprintf("%s to a context of %d: %.1f tokens/s decoding (%d in %.3f s), prompts before that %.1f tokens/s (%d)\n",
		words.Count(m.Batch, "sequence"), m.Context, m.GeneratedPerS, m.GeneratedTokens, m.Seconds, m.PrefillPerS, m.PromptTokens)
}

// benchSynthetic measures a workload that is made up.
func (c *cli) benchSynthetic(cmd *cobra.Command, f *benchFlags) (err error) {
	if err := f.synthetic.useAll(&f.engine.config); err != nil {
		return err
	}
	ctx, stop := c.interrupts(cmd.Context(), cancelling)
	defer stop()
	// Prompt and generated together: what is which follows from the size of pages.
	hints := engine.Hints{Requests: f.synthetic.batch, MaxPrompt: f.synthetic.context}
	e, err := wait(ctx, c, "reading model "+f.engine.model, func() (*engine.Engine, error) {
		return c.spawnAlone(cmd, &f.engine, hints)
	})
	if err != nil {
		return err
	}
	defer closeEngine(e, "stop the engine", &err)
	info := e.Info()
	if err := holds(&f.synthetic, info); err != nil {
		return err
	}
	prompt := f.synthetic.prompt(info.PageSize)
	cases := bench.Synthetic(f.synthetic.batch, prompt, f.synthetic.context-prompt, info.Vocab)
	if err := c.warmUp(ctx, e, cases); err != nil {
		return ended(ctx, err)
	}
	m, err := c.measureSynthetic(ctx, e, cases)
	if err != nil {
		return ended(ctx, err)
	}
	m.Batch, m.Context = f.synthetic.batch, f.synthetic.context
	m.Workload, m.Model = "synthetic", f.engine.model
	m.Compute, m.KVType, m.Threads, m.Executor = info.Compute, info.KVType, info.Threads, info.Executor
	if f.json {
		return c.printJSON(m)
	}
	return c.print(m.String())
}

// useAll leaves no share of the cache free unless the configuration says which: its blocks
// are as many as the sequences take, and no others come.
func (f *syntheticFlags) useAll(c *engine.Config) error {
	if c.SafetyMargin != nil {
		return nil
	}
	return c.Apply([]engine.Given{{Name: "safety_margin", Text: "0", Called: "--batch"}})
}

// holds refuses a context that a request cannot have, and a batch that the cache cannot hold
// whole, which would be measured in parts.
func holds(f *syntheticFlags, info engine.Info) error {
	if room := roomOf(info); f.context > room {
		return badUsage("--context is %d: there is room for %d, by %s", f.context, room, limitOf(info))
	}
	margin, _ := settingOf(info, "safety_margin").(float64) // none: there is no margin
	pages, room := f.batch*((f.context+info.PageSize-1)/info.PageSize), info.Blocks-int(margin*float64(info.Blocks))
	if pages <= room {
		return nil
	}
	take, help := "take", "set --num-blocks or --max-memory-percent higher"
	if f.batch == 1 {
		take = "takes"
	}
	if pages <= info.Blocks {
		help = fmt.Sprintf("set --safety-margin, which is %g, lower", margin)
	}
	return badUsage("%s of %d tokens %s %s of the cache, which has room for %d: %s, or measure fewer",
		words.Count(f.batch, "sequence"), f.context, take, words.Count(pages, "block"), room, help)
}

// measureSynthetic computes the prompts, then the requests with their prompts in the cache.
func (c *cli) measureSynthetic(ctx context.Context, e *engine.Engine, cases []bench.Case) (m syntheticMeasurement, err error) {
	prompts := benchRequests(cases, "prompt")
	for i := range prompts {
		prompts[i].MaxNewTokens = 1
	}
	filling, err := c.measure(ctx, e, prompts)
	if err != nil {
		return m, err
	}
	runs := make([]measurement, syntheticRepeats)
	for i := range runs {
		if runs[i], err = c.measure(ctx, e, benchRequests(cases, fmt.Sprintf("run-%d", i))); err != nil {
			return m, err
		}
		if want := filling.PromptTokens - len(cases); runs[i].CachedTokens != want {
			return m, fmt.Errorf("%d of %d prompt tokens stayed in the cache: decoding alone is measured with all of them there, so leave block sharing on, or measure fewer sequences",
				runs[i].CachedTokens, want)
		}
	}
	slices.SortFunc(runs, func(a, b measurement) int { return cmp.Compare(a.Seconds, b.Seconds) })
	m.measurement = runs[len(runs)/2]
	m.PrefillPerS = float64(filling.PromptTokens) / filling.Seconds
	return m, nil
}
