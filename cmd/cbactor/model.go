package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// openModel opens what the user calls a model. The caller closes it.
func openModel(name string) (*checkpoint.Checkpoint, error) {
	path, err := checkpoint.Resolve(name)
	if errors.Is(err, checkpoint.ErrNotPulled) {
		return nil, badUsage("--model %s: %w", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("--model %s: %w", name, err)
	}
	model, err := checkpoint.Open(path)
	if errors.Is(err, checkpoint.ErrNotFound) {
		if _, missing := os.Lstat(path); missing != nil && filepath.Base(name) == name { // it may be meant as a name
			return nil, badUsage("--model: %w: known by name are %s", err, strings.Join(checkpoint.Names(), ", "))
		}
		return nil, badUsage("--model: %w", err)
	}
	if errors.Is(err, checkpoint.ErrFormat) { // as of every file that is of another kind than its flag wants
		return nil, badUsage("--model: %w", err)
	}
	return model, err
}

// spawn starts an engine with the model, the flags, and what it will be asked for.
func (c *cli) spawn(cmd *cobra.Command, f *engineFlags, model *checkpoint.Checkpoint, hints engine.Hints) (*engine.Engine, error) {
	if err := f.hint(hints); err != nil {
		return nil, err
	}
	cfg := f.config
	cfg.Checkpoint = model
	if cfg.Log = c.log(); f.called != "" {
		cfg.Log = cfg.Log.With().Str("model", f.called).Logger()
	}
	closeLogs, err := c.openLogs(f, &cfg)
	if err != nil {
		return nil, err
	}
	e, err := engine.Spawn(cmd.Context(), cfg)
	if err != nil {
		err = errors.Join(err, closeLogs())
		return nil, fmt.Errorf("start with model %s: %w", f.model, err)
	}
	if !c.logs() { // else they are logged
		for _, n := range e.Info().Notices {
			c.say("warning: %s", n)
		}
	}
	info := e.Info()
	cfg.Log.Info().Str("device", deviceOf(info)).Str("compute", info.Compute).Str("kv_dtype", info.KVType).Str("executor", info.Executor).Msg("the engine has started")
	return e, nil
}

// deviceOf is where an engine computes, and why.
func deviceOf(info engine.Info) string {
	for _, s := range info.Settings {
		if s.Name == "device" {
			return s.Text() + " (" + s.From + ")"
		}
	}
	return ""
}

// planned decides the configuration for a model without starting an engine, tells
// what an engine that starts tells, and hands both to show.
func (c *cli) planned(f *engineFlags, show func(*checkpoint.Checkpoint, *engine.Resolved) error) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	model, err := openModel(f.model)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	cfg := f.config
	cfg.Checkpoint = model
	r, err := engine.Resolve(cfg)
	if err != nil {
		return fmt.Errorf("model %s: %w", f.model, err)
	}
	if _, err := r.Info(); err != nil { // what only shows when an engine starts
		return err
	}
	for _, n := range r.Notices {
		c.say("warning: %s", n)
	}
	if h, most := r.Config.Hints, r.Config.MaxContext; h.MaxPrompt+h.MaxNew > most {
		c.say("warning: hints are of a prompt of %d tokens and %d to generate, max_context is %d: such a request is refused or ends early", h.MaxPrompt, h.MaxNew, most)
	}
	return show(model, r)
}

// load starts an engine of this process and its tokenizer; hints says what it will be
// asked for. The caller closes it.
func (c *cli) load(cmd *cobra.Command, f *engineFlags, hints func(*texts.Local) engine.Hints) (g *generator, err error) {
	model, err := openModel(f.model)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closing := model.Close(); closing != nil {
			err = errors.Join(err, closing)
		}
		if err != nil && g != nil {
			err = errors.Join(err, g.engine.Close())
		}
	}()
	codec, noText := text.Load(model)
	if noText != nil && !errors.Is(noText, text.ErrNoTokenizer) && !errors.Is(noText, text.ErrUnsupported) {
		return nil, noText
	}
	e, err := c.spawn(cmd, f, model, hints(texts.New(nil, codec)))
	if err != nil {
		return nil, err
	}
	words := texts.New(e, codec)
	if noText != nil {
		words = texts.WithoutText(e, noText)
	}
	if g, err = newGenerator(e, words, noText, model.Generation); err == nil {
		g.codec, g.stored = codec, model.Config.Stored.String()
	}
	return g, err
}

// closeEngine closes an engine, or a connection to one, and adds what went wrong with that
// to err; what says what was tried.
func closeEngine(e engine.API, what string, err *error) {
	if closing := e.Close(); closing != nil && *err == nil {
		*err = fmt.Errorf("%s: %w", what, closing)
	}
}
