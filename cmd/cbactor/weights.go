package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/weights"
)

const putHelp = `Send all weights of a model to an engine that serves it: a safetensors file, or a folder of them in the
layout of the Hugging Face libraries. They are staged and checked beside what it generates, and from one step
to the next it computes with them, or with nothing of them when anything went wrong. Ctrl-C gives up.

An engine that has no memory for them beside those that serve refuses them. With --in-place they are sent
twice: at first they are checked, then nothing is generated while they are written over those that serve. There
is no way back then, Ctrl-C comes too late, and where the second time breaks off, the engine computes nothing
until all weights were sent again.

--kv says what becomes of requests that have begun: keep (they go on over what they have computed),
recompute (they compute it again with the new weights), abort.`

const deltaHelp = `Send a part of the weights to an engine: a safetensors file with some of its tensors, which replace those of
the version --base, or with NAME.indices (ascending places, I32) and NAME.values (the new numbers there). What
the file says of itself as base_version and model_version holds where --base and --version are not given.`

func (c *cli) weightsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "weights",
		Short: "Change and check the weights of an engine that is served",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.putCommand(false), c.putCommand(true), c.weightsStatusCommand(), c.rollbackCommand(), c.checksumCommand())
	return cmd
}

// putCommand is `cbactor weights put`, or delta if what it sends is a part.
func (c *cli) putCommand(partial bool) *cobra.Command {
	f, s := &connectFlags{}, &sending{partial: partial}
	cmd := &cobra.Command{
		Use: "put FILE|FOLDER", Short: "Send all weights", Long: putHelp,
		Example: "  cbactor weights put checkpoints/step-100 --connect localhost:7070 --version step-100",
	}
	if partial {
		cmd.Use, cmd.Short, cmd.Long = "delta FILE|FOLDER", "Send a part of the weights, over a base", deltaHelp
		cmd.Example = "  cbactor weights delta step-101.safetensors --connect localhost:7070 --base step-100 --version step-101"
	}
	cmd.Args = oneArgument("a file or folder of weights")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.path = args[0]
		return c.connected(cmd, f, func(ctx context.Context, e *remote.Client) error { return c.put(ctx, e, s) })
	}
	fs := cmd.Flags()
	f.add(cmd)
	fs.StringVar(&s.version, "version", "", "name of the new weights, that none had before")
	fs.StringVar(&s.base, "base", "", "version that must be serving, else nothing is sent")
	fs.Var(kvFlag{&s.kv}, "kv", "what becomes of requests that have begun: keep, recompute or abort (default: keep)")
	fs.Var(kindFlag{&s.digest}, "digest", "have the engine compare digests with what has arrived: of kind xxh3-64, or after = sha256 or xxh3-128")
	fs.Lookup("digest").NoOptDefVal = weights.XXH3_64.String()
	fs.BoolVar(&s.inPlace, "in-place", false, "write over the weights that serve, which are sent twice and pause the engine; needs no memory beside them")
	return cmd
}

func (c *cli) put(ctx context.Context, e engine.API, s *sending) error {
	out, err := send(ctx, e, *s, c.bar, func(what string) {
		if isTerminal(c.stderr) {
			c.say("%s", what)
		}
	})
	if err != nil {
		return err
	}
	times := ""
	if s.inPlace {
		times = " sent, all twice,"
	}
	c.say("version %q serves: %s, %s%s in %.2f s, %.1f MiB/s", out.version, words.Count(out.tensors, "tensor"), mebibytes(out.bytes), times, out.took.Seconds(), float64(out.bytes)/(1<<20)/out.took.Seconds())
	if out.dropped != "" {
		c.say("version %q had to give up its place: there is no way back to it", out.dropped)
	}
	return nil
}

// bar shows the progress of so many bytes, where it can be drawn.
func (c *cli) bar(total int64) progress {
	if !canDraw(c.stderr) {
		return unseen{}
	}
	return show.NewBar(c.stderr, c.console, total)
}

// unseen is progress that nobody sees.
type unseen struct{}

func (unseen) Add(int) {}

func (unseen) Close() error { return nil }

func (c *cli) weightsStatusCommand() *cobra.Command {
	f := &connectFlags{}
	cmd := &cobra.Command{
		Use: "status", Short: "Show which version serves, and which one there is a way back to", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.connected(cmd, f, func(ctx context.Context, e *remote.Client) error {
				now, err := e.State(ctx)
				if err != nil {
					return err
				}
				return c.print(columns("Weights", versionRows(now)))
			})
		},
	}
	f.add(cmd)
	return cmd
}

// versionRows are the versions of weights that an engine has.
func versionRows(now remote.State) [][]string {
	rows := [][]string{{"serving", fmt.Sprintf("%q", now.Version)}}
	if now.Kept != "" {
		rows = append(rows, []string{"kept", fmt.Sprintf("%q, for a rollback", now.Kept)})
	}
	return rows
}

func (c *cli) rollbackCommand() *cobra.Command {
	f := &connectFlags{}
	var kv engine.KVPolicy
	cmd := &cobra.Command{
		Use: "rollback VERSION", Short: "Let the version compute again that served before",
		Example: "  cbactor weights rollback step-100 --connect localhost:7070",
		Args:    oneArgument("the version to go back to, as `cbactor weights status` shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.connected(cmd, f, func(ctx context.Context, e *remote.Client) error {
				if err := e.Rollback(ctx, args[0], kv); err != nil {
					return err
				}
				c.say("version %q serves", args[0])
				return nil
			})
		},
	}
	f.add(cmd)
	cmd.Flags().Var(kvFlag{&kv}, "kv", "what becomes of requests that have begun: keep, recompute or abort (default: keep)")
	return cmd
}

func (c *cli) checksumCommand() *cobra.Command {
	f := &connectFlags{}
	kind := weights.SHA256
	cmd := &cobra.Command{
		Use: "checksum", Short: "Show the digest of the weights that serve, and their version", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.connected(cmd, f, func(ctx context.Context, e *remote.Client) error {
				version, digest, err := e.Checksum(ctx, kind)
				if err != nil {
					return err
				}
				return c.print(fmt.Sprintf("%s  %q\n", digest, version))
			})
		},
	}
	f.add(cmd)
	cmd.Flags().Var(kindFlag{&kind}, "kind", "hash function: sha256, xxh3-64 or xxh3-128 (default: sha256)")
	return cmd
}
