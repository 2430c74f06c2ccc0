package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/bench"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/profile"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/engine"
)

const benchHelp = `Measure how fast the engine generates. All requests of the workload are handed over at once; they are
greedy, and end-of-sequence tokens do not end them. The clock runs from when the engine is warm, which it
is after a few short requests of random ids ("warm-up-N" in a trace), to the end of the last one. A request that
the context or the cache would cut short is refused, as the figures would be of other work.

` + workloadFormat + `

` + profileHelp + `

` + syntheticHelp + `

` + updateHelp

// workloadFormat says what a workload is, in the help of the commands that run one.
const workloadFormat = `A workload file maps names to requests: {"NAME":[{"prompt":[ids],"max_new":n},...],...}; with "priority":p,
from -100 to 100, one of them goes earlier or later with --scheduler-type priority. Without a file the
project's own workloads are used, whose ids are of SmolLM2's vocabulary: decode, mixed, shared, single.`

// benchFlags are the flags of `cbactor bench`.
type benchFlags struct {
	engine    engineFlags
	workload  string
	name      string
	json      bool
	profile   profileFlags
	update    updateFlags
	synthetic syntheticFlags
}

func (c *cli) benchCommand() *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure how fast the engine generates",
		Long:    benchHelp,
		Example: "  cbactor bench --model smollm2 --name decode\n  cbactor bench --model smollm2 --batch 32 --context 512",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.bench(cmd, f) },
	}
	fs := cmd.Flags()
	fs.Var(pathFlag{path: &f.workload}, "workload", "workload file (default: the project's workloads, for --model smollm2)")
	fs.StringVar(&f.name, "name", "", "name of the workload, if there are several")
	fs.BoolVar(&f.json, "json", false, "write the measurement as JSON")
	f.profile.add(cmd)
	f.update.add(cmd)
	f.synthetic.add(cmd)
	f.engine.add(cmd)
	f.engine.addTrace(cmd)
	complete(cmd, "name", func() []string {
		workloads, err := readWorkloads(f.workload)
		if err != nil {
			return nil
		}
		return workloads.Names()
	})
	return cmd
}

// measurement is what `cbactor bench` prints.
type measurement struct {
	Engine          string  `json:"engine"`
	Workload        string  `json:"workload"`
	Seconds         float64 `json:"seconds"`
	PromptTokens    int     `json:"prompt_tokens"`
	GeneratedTokens int     `json:"generated_tokens"`
	CachedTokens    int     `json:"cached_tokens"`
	GeneratedPerS   float64 `json:"generated_per_s"`
	Model           string  `json:"model"`
	Compute         string  `json:"compute"`
	KVType          string  `json:"kv_dtype"`
	Threads         int     `json:"threads"`
	Executor        string  `json:"executor"`
	HitRate         float64 `json:"hit_rate"`    // cached tokens of a prompt token
	Preemptions     int     `json:"preemptions"` // times that requests were given up for lack of cache

	Profile *profile.Report `json:"profile,omitempty"`
}

func (c *cli) bench(cmd *cobra.Command, f *benchFlags) error {
	if err := f.update.check(cmd); err != nil {
		return err
	}
	if err := f.profile.check(cmd); err != nil {
		return err
	}
	if err := f.synthetic.check(cmd); err != nil {
		return err
	}
	if err := f.engine.check(); err != nil {
		return err
	}
	switch {
	case f.update.on:
		return c.benchUpdate(cmd, f)
	case f.synthetic.on():
		return c.benchSynthetic(cmd, f)
	}
	return c.benchWorkload(cmd, f)
}

// benchWorkload measures a workload of a file.
func (c *cli) benchWorkload(cmd *cobra.Command, f *benchFlags) (err error) {
	cases, name, err := readCases(f.workload, f.name)
	if err != nil {
		return err
	}
	chart, err := c.openChart(f)
	if err != nil {
		return err
	}
	if chart != nil {
		defer func() { err = errors.Join(err, chart.Close()) }()
	}
	requests := benchRequests(cases, "case")
	f.engine.config.Profile = f.profile.wanted()
	ctx, stop := c.interrupts(cmd.Context(), cancelling)
	defer stop()
	e, err := wait(ctx, c, "reading model "+f.engine.model, func() (*engine.Engine, error) {
		return c.spawnAlone(cmd, &f.engine, engine.HintsOf(requests))
	})
	if err != nil {
		return err
	}
	defer closeEngine(e, "stop the engine", &err)
	if err := fits(requests, e.Info()); err != nil {
		return err
	}
	if err := c.warmUp(ctx, e, cases); err != nil {
		return ended(ctx, err)
	}
	f.profile.begin()
	m, err := c.measure(ctx, e, requests)
	if errors.Is(err, engine.ErrVocab) && f.workload == "" {
		return badUsage("%w: the workloads of the project are for --model smollm2", err)
	}
	if err != nil {
		return ended(ctx, err)
	}
	info := e.Info()
	m.Workload, m.Model, m.Compute, m.KVType, m.Threads, m.Executor = name, f.engine.model, info.Compute, info.KVType, info.Threads, info.Executor
	if err := c.addProfile(&m, f, chart); err != nil {
		return err
	}
	if f.json {
		return c.printJSON(m)
	}
	return c.print(m.String())
}

// String is the measurement in a line of text.
func (m measurement) String() string {
	s := fmt.Sprintf("%s: %.1f tokens/s (%d generated in %.2f s, %d prompt tokens, %d of them cached, %.1f %%), %s",
		m.Workload, m.GeneratedPerS, m.GeneratedTokens, m.Seconds, m.PromptTokens, m.CachedTokens, 100*m.HitRate, onThreads(m.Executor, m.Threads))
	if m.Preemptions > 0 {
		s += fmt.Sprintf("; requests were given up %s for lack of cache: more of it is --num-blocks, or --cpu-offload-space keeps theirs", words.Count(m.Preemptions, "time"))
	}
	if m.Profile != nil {
		return s + "\n\n" + m.Profile.String()
	}
	return s + "\n"
}

// onThreads is an executor with its threads; one on a GPU has none that count.
func onThreads(name string, threads int) string {
	if threads == 0 {
		return name
	}
	return name + " on " + words.Count(threads, "thread")
}

// fits refuses requests that would be cut short.
func fits(requests []engine.Request, info engine.Info) error {
	room := roomOf(info)
	for i, r := range requests {
		if r.MaxNewTokens > room || len(r.PromptIDs)+r.MaxNewTokens > room {
			return badUsage("request %d of the workload has %d prompt tokens and %d to generate: there is room for %d, by %s",
				i+1, len(r.PromptIDs), r.MaxNewTokens, room, limitOf(info))
		}
	}
	return nil
}

// roomOf is how many tokens a request may have, prompt and generated.
func roomOf(info engine.Info) int {
	return min(info.MaxContext, info.CacheTokens+1) // the last token needs no place
}

// spawnAlone starts an engine for token ids.
func (c *cli) spawnAlone(cmd *cobra.Command, f *engineFlags, hints engine.Hints) (_ *engine.Engine, err error) {
	model, err := openModel(f.model)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	return c.spawn(cmd, f, model, hints)
}

// benchRequests are the requests of cases, named by what they are for.
func benchRequests(cases []bench.Case, what string) []engine.Request {
	list := make([]engine.Request, len(cases))
	for i, one := range cases {
		list[i] = engine.Request{ID: fmt.Sprintf("%s-%d", what, i), PromptIDs: one.Prompt, MaxNewTokens: one.MaxNew, IgnoreEOS: true, Priority: one.Priority}
	}
	return list
}

// warmUp runs what comes before the clock: see bench.WarmUp.
func (c *cli) warmUp(ctx context.Context, e *engine.Engine, cases []bench.Case) error {
	requests := benchRequests(bench.WarmUp(cases, e.Info().Vocab), "warm-up")
	outputs, err := e.GenerateBatch(ctx, requests, engine.BatchOptions{})
	if err != nil {
		return err
	}
	return errors.Join(failures(outputs)...)
}

// failures are the errors of outputs.
func failures(outputs []engine.Output) []error {
	errs := make([]error, len(outputs)) // nil where there is none
	for i, o := range outputs {
		errs[i] = o.Err
	}
	return errs
}

// measure runs the requests. An error of one is an error of all: the figures would be
// of other work than asked for.
func (c *cli) measure(ctx context.Context, e *engine.Engine, requests []engine.Request) (measurement, error) {
	defer c.notice("running the workload")()
	start := time.Now()
	outputs, err := e.GenerateBatch(ctx, requests, engine.BatchOptions{Progress: c.progress(start)})
	if err != nil {
		return measurement{}, err
	}
	m := measurement{Engine: "cbactor", Seconds: time.Since(start).Seconds()}
	for _, o := range outputs {
		if o.Err != nil {
			return m, o.Err
		}
		m.PromptTokens += o.Usage.PromptTokens
		m.GeneratedTokens += o.Usage.CompletionTokens
		m.CachedTokens += o.Usage.CachedTokens
		m.Preemptions += o.Preemptions
	}
	m.HitRate = float64(m.CachedTokens) / float64(m.PromptTokens)
	m.GeneratedPerS = float64(m.GeneratedTokens) / m.Seconds
	return m, nil
}

// progressEvery is the least time between two lines about a measurement.
const progressEvery = 5 * time.Second

// progress says now and then how far a batch is.
func (c *cli) progress(last time.Time) func(engine.Progress) {
	return func(p engine.Progress) {
		if now := time.Now(); now.Sub(last) >= progressEvery && p.Done < p.Total {
			last = now
			c.say("%d of %d requests done", p.Done, p.Total)
		}
	}
}

// printJSON writes v as one line of JSON.
func (c *cli) printJSON(v any) error {
	var line strings.Builder
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // special tokens stay readable
	if err := e.Encode(v); err != nil {
		return err
	}
	return c.print(line.String())
}
