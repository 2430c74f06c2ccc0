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

// adapterFlags are those of --adapter NAME=FOLDER.
type adapterFlags struct{ list []namedAdapter }

var _ pflag.Value = (*adapterFlags)(nil)

// Set implements pflag.Value. A name alone is one that an engine elsewhere has.
func (f *adapterFlags) Set(text string) error {
	name, folder, ok := strings.Cut(text, "=")
	if name == "" || ok && folder == "" {
		return errAdapterFlag
	}
	if slices.ContainsFunc(f.list, func(a namedAdapter) bool { return a.name == name }) {
		return errors.New("the name is given twice")
	}
	f.list = append(f.list, namedAdapter{name, folder})
	return nil
}

var errAdapterFlag = errors.New("must be a name, = and a folder, such as tales=lora/tales")

// String implements pflag.Value.
func (*adapterFlags) String() string { return "" }

// Type implements pflag.Value.
func (*adapterFlags) Type() string { return "name=folder" }

// check refuses names without a folder, or, of adapters that an engine elsewhere has,
// with one.
func (f *adapterFlags) check(elsewhere bool) error {
	for _, a := range f.list {
		switch {
		case elsewhere && a.folder != "":
			return badUsage("--adapter %s=%s: an engine elsewhere loads its adapters itself, give the name alone", a.name, a.folder)
		case !elsewhere && a.folder == "":
			return badUsage("--adapter %q: %w", a.name, errAdapterFlag)
		}
	}
	return nil
}

// makeRoom lets the engine have as many adapters as are given, unless the configuration
// says how many it may.
func (f *adapterFlags) makeRoom(engineFlags *engineFlags) error {
	if len(f.list) == 0 || engineFlags.config.MaxAdapters > 0 {
		return nil
	}
	return engineFlags.config.Apply([]engine.Given{{Name: "max_adapters", Text: strconv.Itoa(len(f.list)), Called: "--adapter"}})
}

// load loads what is given.
func (f *adapterFlags) load(ctx context.Context, e engine.API) error {
	for _, a := range f.list {
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
