package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/engine"
)

// namedAdapter is an adapter to load.
type namedAdapter struct{ name, folder string }

// adapterFlag is --adapter NAME=FOLDER. The first one is what requests have that say
// nothing.
type adapterFlag struct{ flags *generateFlags }

var _ pflag.Value = adapterFlag{}

// Set implements pflag.Value.
func (v adapterFlag) Set(text string) error {
	name, folder, ok := strings.Cut(text, "=")
	if !ok || name == "" || folder == "" {
		return errors.New("must be a name, = and a folder, such as tales=lora/tales")
	}
	f := v.flags
	if slices.ContainsFunc(f.adapters, func(a namedAdapter) bool { return a.name == name }) {
		return errors.New("the name is given twice")
	}
	f.adapters = append(f.adapters, namedAdapter{name, folder})
	if f.settings.Adapter == nil {
		f.settings.Adapter = &name
	}
	return nil
}

// String implements pflag.Value.
func (adapterFlag) String() string { return "" }

// Type implements pflag.Value.
func (adapterFlag) Type() string { return "name=folder" }

// makeRoom lets the engine have as many adapters as are given, unless the configuration
// says how many it may.
func (f *generateFlags) makeRoom() error {
	if len(f.adapters) == 0 || f.engine.config.MaxAdapters > 0 {
		return nil
	}
	return f.engine.config.Apply([]engine.Given{{Name: "max_adapters", Text: strconv.Itoa(len(f.adapters)), Called: "--adapter"}})
}

// loadAdapters loads what is given.
func loadAdapters(ctx context.Context, e *engine.Engine, list []namedAdapter) error {
	for _, a := range list {
		err := e.LoadAdapter(ctx, a.name, os.DirFS(a.folder))
		if errors.Is(err, engine.ErrRejected) || errors.Is(err, engine.ErrAdapters) {
			return badUsage("--adapter %s=%s: %w", a.name, a.folder, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
