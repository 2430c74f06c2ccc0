package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/replay"
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/weights"
)

const replayHelp = `Compute the tokens of a run again from its log, written with --record, and compare them to the bit of a
token: each sequence with its seed, over a cache that the same weights compute, at the same positions, as the
log says they did, also where the weights were changed under way.

Weights are compared with the digests of the log. Those of the first version are the model that the log names,
or --model; of each other version, which the program has sent, --weights says where a checkpoint has them.

Sequences that were drawn with code of the program's or with an adapter cannot be replayed: they are counted
apart. So are sequences without a token, requests that were open when the log ended, and lines that it says
are missing. A log that was made on a GPU is replayed on one. With --json the result is an object of JSON. The exit status is 1 if a sequence differs, or if
nothing was compared.`

// replayFlags are the flags of `cbactor replay`.
type replayFlags struct {
	model   string
	weights []string // VERSION=PATH
	device  engine.Device
	threads int
	json    bool
}

func (c *cli) replayCommand() *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:     "replay LOG",
		Short:   "Compute the tokens of a recorded run again and compare them",
		Long:    replayHelp,
		Example: "  cbactor generate --record run.jsonl --temperature 1 --prompt \"Once upon a time\"\n  cbactor replay run.jsonl",
		Args:    oneArgument("the file of a log"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.replay(cmd.Context(), f, args[0]) },
	}
	fs := cmd.Flags()
	fs.Var(pathFlag{path: &f.model}, "model", "model that the run began with (default: the one that the log names)")
	fs.StringArrayVar(&f.weights, "weights", nil, "VERSION=PATH: the checkpoint that has the weights of a version; may be given several times")
	fs.Var(deviceFlag{&f.device}, "device", "GPU for a log that was made on one: cuda:N, or cuda, the first that can compute (default: that)")
	fs.IntVar(&f.threads, "threads", 0, "threads that compute (default: the CPUs that the process may use)")
	fs.BoolVar(&f.json, "json", false, "write the result as JSON")
	return cmd
}

func (c *cli) replay(ctx context.Context, f *replayFlags, name string) (err error) {
	if f.threads < 0 {
		return badUsage("--threads: %d, must be 0 or more", f.threads)
	}
	ctx, stop := c.interrupts(ctx, cancelling)
	defer stop()
	file, err := os.Open(name)
	if err != nil {
		return badFile("the log", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	in, first, err := openLog(file)
	if err != nil {
		return badFile(name, err)
	}
	player, err := wait(ctx, c, "reading the weights", func() (*replay.Player, error) { return c.player(f, in.Header, first) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, player.Close()) }()
	sum, err := player.Run(ctx, in)
	if err != nil {
		if errors.Is(err, replaylog.ErrFormat) {
			err = badFile(name, err)
		}
		return ended(ctx, err)
	}
	return c.tellReplay(f, &sum)
}

// deviceFlag is a flag that takes a GPU.
type deviceFlag struct{ to *engine.Device }

var _ pflag.Value = deviceFlag{}

// Set implements pflag.Value.
func (v deviceFlag) Set(text string) error {
	d := engine.Device(text)
	if _, gpu := d.Ordinal(); !gpu {
		return errors.New("must be cuda, or cuda:N with a device from 0")
	}
	*v.to = d
	return nil
}

// String implements pflag.Value; usage has the default.
func (deviceFlag) String() string { return "" }

// Type implements pflag.Value.
func (deviceFlag) Type() string { return "cuda|cuda:N" }

// openLog reads a log up to the weights that it begins with.
func openLog(file *os.File) (*replaylog.Reader, replaylog.Weights, error) {
	in, err := replaylog.NewReader(file)
	if err != nil {
		return nil, replaylog.Weights{}, err
	}
	e, err := in.Next()
	switch {
	case err == nil && e.Weights == nil, errors.Is(err, io.EOF):
		return nil, replaylog.Weights{}, fmt.Errorf("%w: it does not begin with weights", replaylog.ErrFormat)
	case err != nil:
		return nil, replaylog.Weights{}, err
	}
	return in, *e.Weights, nil
}

// player makes what replays, with the log's instruction set where the CPU has it.
func (c *cli) player(f *replayFlags, h replaylog.Header, first replaylog.Weights) (*replay.Player, error) {
	paths, err := f.paths(first)
	if err != nil {
		return nil, err
	}
	model, err := openModel(paths[first.Version])
	if err != nil {
		return nil, err
	}
	cfg := replay.Config{Model: model.Config, Header: h, First: first, Source: paths.read, Threads: f.threads}
	if err := model.Close(); err != nil {
		return nil, err
	}
	if replay.OnGPU(&h) {
		ordinal, _ := cmp.Or(f.device, engine.FirstGPU).Ordinal()
		if cfg.Device, err = gpuexec.Open(ordinal); err != nil {
			return nil, fmt.Errorf("the log was made with %.60q: %w", h.Executor, err)
		}
		return replay.New(cfg)
	}
	if f.device != "" {
		return nil, badUsage("--device is %s, the log was made with %.60q: leave it out", f.device, h.Executor)
	}
	if parts := strings.Fields(h.Executor); len(parts) > 1 {
		cfg.Kernels = parts[1]
	}
	if _, err := kernels.Choose(cfg.Kernels); errors.Is(err, kernels.ErrUnavailable) {
		c.say("the log was made with %.60q, which is not available here: going on with what is", h.Executor)
		cfg.Kernels = ""
	}
	return replay.New(cfg)
}

// versionPaths says where the weights of versions are.
type versionPaths map[string]string

// paths are those that the flags and the log give.
func (f *replayFlags) paths(first replaylog.Weights) (versionPaths, error) {
	paths := versionPaths{}
	for _, text := range f.weights {
		version, path, ok := strings.Cut(text, "=")
		if !ok || path == "" {
			return nil, badUsage("--weights: %.80q: give it as VERSION=PATH", text)
		}
		if _, twice := paths[version]; twice {
			return nil, badUsage("--weights: version %.80q is given twice", version)
		}
		paths[version] = path
	}
	switch _, given := paths[first.Version]; {
	case given && f.model != "":
		return nil, badUsage("--model and --weights both give version %.80q, with which the run began: give one", first.Version)
	case given:
	case f.model != "":
		paths[first.Version] = f.model
	case first.Source != "":
		paths[first.Version] = first.Source
	default:
		return nil, badUsage("the log does not say which model the run began with: give --model")
	}
	return paths, nil
}

// read is a replay.Source.
func (p versionPaths) read(w replaylog.Weights) (_ *weights.Set, err error) {
	path, given := p[w.Version]
	if !given {
		return nil, badUsage("the program has sent them: give --weights %s=PATH", w.Version)
	}
	path, err = checkpoint.Resolve(path)
	if err != nil {
		return nil, err
	}
	c, err := checkpoint.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return weights.Load(c.Config, c, 1, w.Version)
}

// tellReplay tells what came of a replay.
func (c *cli) tellReplay(f *replayFlags, s *replay.Summary) error {
	err := error(nil)
	if f.json {
		err = c.printJSON(s)
	} else {
		err = c.print(s.Tell())
	}
	if err == nil && (s.First != nil || s.Compared == 0) {
		return errReported
	}
	return err
}
