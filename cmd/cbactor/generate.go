package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

const generateHelp = `Generate text from prompts. Prompts are given by --prompt, --prompt-ids and --chat, in any mix, or as a
file of requests by --requests; else standard input as a whole, but for a line end at its end, is one
prompt; and where that is a terminal, the embedded model tells some stories. Several prompts run as one
batch.

A prompt is put to the model as its tokenizer does, with a start token where it has one. Text that
spells a special token, such as <|im_end|>, becomes that token, but in a chat, where it stays text.

Texts go to standard output, without their prompts unless that is a terminal; progress and a summary go
to standard error. With --json each request is a line of JSON on standard output when it ends:
request_id, prompt_ids, token_ids, text, finish_reason (stop, length, cancelled,
deadline, aborted by a pause or a change of the weights, stale as its weights became too old, or failed),
usage, stop if a stop text ended it, and error if it failed. token_ids include the end-of-sequence token
that ended it, or all of those that the stop text is in; text does not. What is told beside is in
logprobs and prompt_logprobs (of the first text of a prompt alone), an entry for each token: id, raw (by
the model alone), sampled (in the distribution it was drawn from), top, kept_count, and kept if
that is at most 4096; -9999 stands for minus infinity; and in timing, in seconds.

A file of requests has an object of JSON a line, at most 16 MiB of it: one of prompt, prompt_ids and
messages ([{"role","content"}]; which roles there are is the chat template's), and as it likes
request_id, seed, adapter (a name; "": none), and the settings that are flags here, as "max_new_tokens": 9; stop is a text or a list,
bad_words a list of texts and lists of ids, logit_bias an object. Flags hold where a line says nothing.
The default of request_id is line-N, the number of the line; no two lines may have the same. The file
may be of any length: it is read as requests end, and results come in the order in which they end. With
--scheduler-type priority, --max-queue-size says how far it is read ahead for one that goes first. A bad
line is a failed request; the others go on, and the exit status is 1.

With --n, the texts of a prompt have the ids ID, ID/1, ID/2 and so on. --seed is that of the engine, from
which each request without a seed of its own draws one by its id: give it with --resume, too, whose OUT
does not have it.

With --resume OUT, new results are appended to OUT, which need not exist, and with --json they are also
written to standard output. Requests whose results stand in OUT are skipped: those with the same
request_id and the same prompt; one with the request_id of another prompt's result fails. What failed,
was cancelled, ran out of time, was aborted or became stale runs again: of several lines of OUT with one
request_id the last counts. A last line that was torn is dropped. One process at a time can use OUT.

Ctrl-C cancels and prints what there is; a second one ends at once.`

const generateExamples = `  cbactor generate --prompt "Once upon a time" --prompt "One day, a dog"
  cbactor generate --model smollm2 --chat "What is the capital of Japan?" --temperature 0
  cbactor generate --json --seed 7 --temperature 0.8 --n 3 --stop "The end" --logprobs 5 --prompt "One day"
  cbactor generate --model smollm2 --adapter tales=lora/tales --prompt "One day"
  cbactor generate --model smollm2 --requests in.jsonl --resume out.jsonl`

// generateFlags are the flags of `cbactor generate`.
type generateFlags struct {
	engine   engineFlags
	settings requests.Settings
	prompts  []texts.Prompt
	requests string
	resume   string
	adapters adapterFlags
	connect  connectFlags
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
	addModel(cmd, &f.engine.model)
	fs.Var(&f.adapters, "adapter", "LoRA adapter for the model, a folder as PEFT writes it, and a name for it: requests have the first one unless their line says (repeatable)")
	addPrompts(fs, &f.prompts)
	fs.StringVar(&f.requests, "requests", "", "file of requests as JSON lines; -: standard input")
	fs.StringVar(&f.resume, "resume", "", "file of results: append to it, and skip the requests that are done there")
	fs.BoolVar(&f.json, "json", false, "write results as JSON lines")
	f.connect.add(cmd)
	group(fs, "Model, prompts and results")
	addSettings(cmd, &f.settings)
	f.engine.addFields(cmd)
	f.engine.addTrace(cmd)
	f.engine.addRecord(cmd)
	group(fs, engineHeading)
	fs.SortFlags = false
	cmd.SetUsageFunc(groupedUsage)
	return cmd
}

// check refuses what is wrong before a model is read.
func (f *generateFlags) check(fs *pflag.FlagSet) error {
	if f.requests != "" && len(f.prompts) > 0 {
		return badUsage("--requests cannot be combined with --prompt, --prompt-ids or --chat: put them into the file")
	}
	if f.resume != "" && f.requests == "" {
		return badUsage("--resume is for a file of requests: give --requests too")
	}
	if err := f.adapters.check(f.connect.given()); err != nil {
		return err
	}
	if err := f.checkEngine(fs); err != nil {
		return err
	}
	if len(f.adapters.list) > 0 && f.settings.Adapter == nil {
		f.settings.Adapter = &f.adapters.list[0].name
	}
	return f.checkSettings(fs)
}

// checkEngine refuses what is wrong with the engine to start, or with the connection to
// one that runs.
func (f *generateFlags) checkEngine(fs *pflag.FlagSet) error {
	switch {
	case f.connect.given():
		return f.checkConnection(fs)
	case f.connect.secure != (secureFlags{}):
		return badUsage("--tls-ca, --tls-cert and --tls-key are for --connect: give that, too")
	}
	if err := f.engine.check(); err != nil {
		return err
	}
	return f.adapters.makeRoom(&f.engine)
}

func (c *cli) generate(cmd *cobra.Command, f *generateFlags) (err error) {
	if err := f.check(cmd.Flags()); err != nil {
		return err
	}
	ctx, stop := c.interrupts(cmd.Context(), cancelling)
	defer stop()
	in, err := wait(ctx, c, "reading what to generate from", func() (*input, error) { return c.openInput(f) })
	if err != nil {
		return err
	}
	defer in.close(&err)
	f.engine.taken = []*os.File{in.file, in.out}
	tally := show.NewTally(in.total, time.Now())
	model, err := c.generator(ctx, cmd, f, in)
	if err != nil {
		return errors.Join(err, c.neverBegun(ctx, in, f.json, tally))
	}
	defer model.close(&err)
	m := maker{model: model, settings: f.settings, told: f.json || f.resume != ""}
	settled := m.settle(f.settings)
	if err := model.checkText(settled); err != nil {
		return err
	}
	c.sayUnsupported(model)
	warn := &warner{cli: c, said: map[string]bool{}}
	if in.file == nil {
		warn.flags(m.idle(ctx, f.settings, settled, true))
	}
	info := model.engine.Info()
	tally.Start(time.Now())
	tally.Describe(drawn(settled.Sampling, cmp.Or(model.seed, info.Seed), in.file != nil), limitOf(info))
	limit := inFlight(info, model.policy)
	sinks := c.sinks(f.json, in, limit, tally)
	return c.present(ctx, newRunner(model, limit), in.jobs(ctx, m, warn), tally, sinks)
}

// generator starts an engine with its adapters, or connects to one.
func (c *cli) generator(ctx context.Context, cmd *cobra.Command, f *generateFlags, in *input) (*generator, error) {
	if f.connect.given() {
		return c.connectGenerator(ctx, f)
	}
	model, err := wait(ctx, c, "reading model "+f.engine.model, func() (*generator, error) {
		return c.load(cmd, &f.engine, func(words *texts.Local) engine.Hints { return in.hints(ctx, words, f.maxNew()) })
	})
	if err != nil {
		return nil, err
	}
	if err := f.adapters.load(ctx, model.engine); err != nil {
		model.close(&err)
		return nil, ended(ctx, err)
	}
	return model, nil
}

// sayUnsupported tells what a model recommends and nobody follows.
func (c *cli) sayUnsupported(model *generator) {
	for _, name := range engine.Unsupported(model.generation) {
		c.say("the model recommends %s, which is not implemented: going on without it", name)
	}
}

// maxNew is how many tokens a request generates at most that says nothing itself.
func (f *generateFlags) maxNew() int {
	n := defaultMaxNew
	set(&n, f.settings.MaxNewTokens)
	return n
}

// neverBegun presents prompts that were cancelled before there was a model, if they were.
func (c *cli) neverBegun(ctx context.Context, in *input, json bool, tally *show.Tally) error {
	if ctx.Err() == nil || in.prompts == nil {
		return nil
	}
	results := show.NewJSON(c.stdout)
	for i := range in.prompts {
		r := refused(failing(promptID(i+1), nil), context.Canceled)
		e := show.Event{Entry: show.Entry{Index: i, ID: r.RequestID}, Result: r}
		tally.Event(e)
		if !json {
			continue
		}
		if err := results.Event(e); err != nil {
			return err
		}
	}
	c.sum(tally)
	return nil
}

// limitOf is what ends an answer before its own limit, whichever is smaller.
func limitOf(info engine.Info) string {
	if info.CacheTokens+1 < info.MaxContext { // the last token needs no room
		return fmt.Sprintf("the cache of %d tokens: more blocks are --num-blocks", info.CacheTokens)
	}
	return fmt.Sprintf("the context of %d tokens", info.MaxContext)
}

// inFlight is how many requests are open at a time: twice as many as run, so that
// one is ready when one ends. By priority it is as many as the queue takes: who has
// not come cannot go first.
func inFlight(info engine.Info, policy string) int {
	if policy == priorityPolicy {
		return info.QueueSize
	}
	return min(2*info.BatchRows, info.QueueSize)
}
