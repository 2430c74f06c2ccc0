package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/internal/trace"
)

// addTrace defines --trace on a command that runs requests.
func (f *engineFlags) addTrace(cmd *cobra.Command) {
	cmd.Flags().Var(pathFlag{&f.trace, true}, "trace",
		"write what happens to each request into this file, for cbactor explain; of what is there only an older trace is replaced")
}

// addRecord defines --record.
func (f *engineFlags) addRecord(cmd *cobra.Command) {
	cmd.Flags().Var(pathFlag{&f.record, true}, "record",
		"write requests, tokens and what they depend on into this file, for cbactor replay; of what is there only an older one is replaced")
}

// openLogs makes the files of --trace and --record, as far as they are given, for an
// engine that will close them. If there will be none after all, undo closes them.
func (c *cli) openLogs(f *engineFlags, cfg *engine.Config) (undo func() error, err error) {
	taken := append([]*os.File{c.stdout, c.stderr}, f.taken...)
	var files []*madeFile
	undo = func() (err error) {
		for _, file := range files {
			err = errors.Join(err, file.Close())
		}
		return err
	}
	for _, l := range []struct {
		flag, path, kind string
		isOwn            func([]byte) bool
		to               *io.WriteCloser
	}{
		{"--trace", f.trace, "trace", trace.Is, &cfg.Trace},
		{"--record", f.record, "replay log", replaylog.Is, &cfg.Record},
	} {
		if l.path == "" {
			continue
		}
		file, err := makeFile(l.flag, l.path, l.kind, l.isOwn, taken...)
		if err != nil {
			return nil, errors.Join(err, undo())
		}
		*l.to, files, taken = file, append(files, file), append(taken, file.File)
	}
	return undo, nil
}
