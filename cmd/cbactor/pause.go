package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/remote"
)

const pauseHelp = `Pause an engine that is served, and hold the pause until Ctrl-C or until --lease is over. Who else holds a
pause is not disturbed: generation goes on when the last has left.

--mode says what becomes of requests that have begun: keep (they go on afterwards), wait (they complete
first), abort (they end with what they have).`

// pauseModes are the words of --mode.
var pauseModes = map[string]engine.PauseMode{"keep": engine.PauseKeep, "wait": engine.PauseWait, "abort": engine.PauseAbort}

// pauseFlags are the flags of `cbactor pause`.
type pauseFlags struct {
	connect connectFlags
	mode    string
	refuse  bool
	lease   time.Duration
}

func (c *cli) pauseCommand() *cobra.Command {
	f := &pauseFlags{}
	cmd := &cobra.Command{
		Use:     "pause",
		Short:   "Pause an engine that is served",
		Long:    pauseHelp,
		Example: "  cbactor pause --connect localhost:7070 --lease 30s",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			mode, known := pauseModes[f.mode]
			switch {
			case !known:
				return badUsage("--mode is %.40q, must be keep, wait or abort", f.mode)
			case f.lease <= 0:
				return badUsage("--lease is %s, must be more than 0", f.lease)
			}
			o := engine.PauseOptions{Mode: mode, Refuse: f.refuse, Lease: f.lease}
			return c.connected(cmd, &f.connect, func(ctx context.Context, e *remote.Client) error { return c.pause(ctx, e, o) })
		},
	}
	fs := cmd.Flags()
	f.connect.add(cmd)
	fs.DurationVar(&f.lease, "lease", 30*time.Second, "how long it is held at most")
	fs.StringVar(&f.mode, "mode", "keep", "what becomes of requests that have begun: keep, wait or abort")
	fs.BoolVar(&f.refuse, "refuse", false, "refuse new requests, which wait otherwise")
	return cmd
}

// pause holds a pause until its lease is over, or ctx, which lets it go.
func (c *cli) pause(ctx context.Context, e engine.API, o engine.PauseOptions) error {
	held, err := e.Pause(ctx, o)
	if err != nil {
		return err
	}
	c.say("paused for %s; Ctrl-C lets it go on", o.Lease)
	<-held.Done()
	switch err := held.Err(); {
	case ctx.Err() != nil:
	case errors.Is(err, remote.ErrRestarted), errors.Is(err, remote.ErrUnreachable):
		return err
	default:
		c.say("%s", strings.TrimPrefix(fmt.Sprint(err), engine.ErrUnavailable.Error()+": "))
	}
	return nil
}
