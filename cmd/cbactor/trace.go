package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/trace"
)

// addTrace defines --trace on a command that runs requests.
func (f *engineFlags) addTrace(cmd *cobra.Command) {
	cmd.Flags().Var(pathFlag{&f.trace, true}, "trace",
		"write what happens to each request into this file, for cbactor explain; of what is there only an older trace is replaced")
}

// openTrace makes the file of --trace, if there is one, for an engine that will
// close it. If there will be none after all, undo closes it.
func (c *cli) openTrace(f *engineFlags, cfg *engine.Config) (undo func() error, err error) {
	if f.trace == "" {
		return func() error { return nil }, nil
	}
	file, err := makeFile("--trace", f.trace, "trace", trace.Is, append([]*os.File{c.stdout, c.stderr}, f.taken...)...)
	if err != nil {
		return nil, err
	}
	cfg.Trace = file
	return file.Close, nil
}
