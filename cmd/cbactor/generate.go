package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
)

const generateHelp = `Generate text from prompts. Prompts are given by --prompt, --prompt-ids and --chat, in any mix, or as a
file of requests by --requests; else standard input as a whole is one prompt; and where that is a
terminal, the embedded model tells some stories. Several prompts run as one batch.

Texts go to standard output, progress and a summary to standard error. With --json each request
is a line of JSON on standard output when it ends: request_id, prompt_ids, token_ids, text,
finish_reason (stop, length, cancelled or failed), usage, and error if it failed. token_ids include
the end-of-sequence token that ended it, text does not.

A file of requests has an object of JSON a line, at most 16 MiB of it: one of prompt, prompt_ids and
messages ([{"role","content"}]), and as it likes request_id (default line-N, the number of the line),
max_new_tokens, temperature, top_k, top_p, seed, ignore_eos. The file may be of any length: it is read
as requests end, and results come in the order in which they end. A bad line is a failed request; the
others go on, and the exit status is 1.

With --resume OUT, requests whose results stand in OUT are skipped, unless they failed or were
cancelled, and the new results are appended to OUT; with --json they go to standard output instead.
OUT need not exist; a last line that was torn is dropped.

Ctrl-C cancels and prints what there is; a second one ends at once.`

const generateExamples = `  cbactor generate --prompt "Once upon a time" --prompt "One day, a dog"
  cbactor generate --model smollm2 --chat "What is the capital of France?" --temperature 0
  cbactor generate --model smollm2 --requests in.jsonl --resume out.jsonl`

// generateFlags are the flags of `cbactor generate`.
type generateFlags struct {
	engine   engineFlags
	sampling sampleFlags
	prompts  []requests.Prompt
	requests string
	resume   string
	json     bool
}

func (c *cli) generateCommand() *cobra.Command {
	f := &generateFlags{}
	cmd := &cobra.Command{
		Use:     "generate",
		Short:   "Generate text from prompts",
		Long:    generateHelp,
		Example: generateExamples,
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.generate(cmd, f) },
	}
	fs := cmd.Flags()
	addPrompts(fs, &f.prompts)
	fs.StringVar(&f.requests, "requests", "", "file of requests as JSON lines; -: standard input")
	fs.StringVar(&f.resume, "resume", "", "file of results: skip the requests done there, append the new results")
	fs.BoolVar(&f.json, "json", false, "write results as JSON lines")
	f.sampling.add(fs)
	f.engine.add(cmd)
	f.engine.addTrace(cmd)
	return cmd
}

// check refuses what is wrong before a model is read.
func (f *generateFlags) check() error {
	if f.requests != "" && len(f.prompts) > 0 {
		return badUsage("--requests cannot be combined with --prompt, --prompt-ids or --chat: put them into the file")
	}
	if f.resume != "" && f.requests == "" {
		return badUsage("--resume is for a file of requests: give --requests too")
	}
	if err := f.engine.check(); err != nil {
		return err
	}
	return f.sampling.check()
}

func (c *cli) generate(cmd *cobra.Command, f *generateFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	in, err := c.openInput(f)
	if err != nil {
		return err
	}
	defer in.close(&err)
	model, err := c.load(cmd, &f.engine, func(m maker) engine.Hints { return in.hints(m, f.sampling.maxNew) })
	if err != nil {
		return err
	}
	defer closeEngine(model.engine, &err)
	defaults, err := f.sampling.defaults(cmd.Flags(), model.generation)
	if err != nil {
		return err
	}
	for _, name := range engine.Unsupported(model.generation) {
		c.say("the model recommends %s, which is not implemented: going on without it", name)
	}
	limit := inFlight(model.engine.Info())
	tally := show.NewTally(in.total, time.Now())
	sinks := c.sinks(f.json, in, limit, tally)
	ctx, stop := c.interrupts(cmd.Context())
	defer stop()
	return c.present(ctx, newRunner(model, limit), in.jobs(maker{model, defaults}), tally, sinks)
}

// inFlight is how many requests are open at a time: twice as many as run, so that
// one is ready when one ends.
func inFlight(info engine.Info) int { return min(2*info.BatchRows, info.QueueSize) }
