package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/engine"
)

// addTrace defines --trace on a command that runs requests.
func (f *engineFlags) addTrace(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.trace, "trace", "", "write what happens to each request into this file, for cbactor explain")
}

// openTrace makes the file of --trace, if there is one, for an engine that will
// close it. If there will be none after all, undo closes it.
func (f *engineFlags) openTrace(cfg *engine.Config) (undo func() error, err error) {
	if f.trace == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(f.trace)
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	cfg.Trace = file
	return file.Close, nil
}
