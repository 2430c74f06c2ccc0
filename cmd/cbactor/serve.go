package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/internal/certs"
	"github.com/cbactor/cbactor/internal/wire"
)

const serveHelp = `Serve a model to clients on the network: Go programs with package engine/remote, ` + "`cbactor generate --connect`" + `,
` + "`cbactor weights`" + ` and ` + "`cbactor status`" + `, and whoever speaks the protocol of docs/protocol.md.

Without certificates it listens on addresses of this machine only; with --tls-ca, --tls-cert and --tls-key
clients must show a certificate of that authority, as ` + "`cbactor certs`" + ` makes them. Each client can do
everything with the engine: generate, pause it, change its weights, stop it.

When it listens it says so on standard error, with the address: port 0 is one that is free.

The first Ctrl-C, or SIGTERM, lets what is open come to its end, at most for --drain, and refuses what is
new; then it ends, with exit status 0. A second one ends it at once.`

// serveFlags are the flags of `cbactor serve`.
type serveFlags struct {
	engine   engineFlags
	adapters adapterFlags
	actors   string
	secure   secureFlags
	kept     time.Duration
	drain    time.Duration
}

func (c *cli) serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a model to clients on the network",
		Long:  serveHelp,
		Example: "  cbactor serve --model smollm2 --actors localhost:7070\n" +
			"  cbactor serve --model smollm2 --actors :7070 --tls-ca certs/ca.crt --tls-cert certs/server.crt --tls-key certs/server.key",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serve(cmd, f) },
	}
	fs := cmd.Flags()
	addModel(cmd, &f.engine.model)
	fs.Var(&f.adapters, "adapter", "LoRA adapter for the model, a folder as PEFT writes it, and a name by which requests ask for it (repeatable)")
	group(fs, "Model")
	fs.StringVar(&f.actors, "actors", "", "address to listen on for clients that speak the protocol of actors, HOST:PORT")
	f.secure.add(fs)
	fs.DurationVar(&f.kept, "kept", time.Minute, "how long a client that has lost its connection may come back to what it has open")
	fs.DurationVar(&f.drain, "drain", 30*time.Second, "how long what is open may go on after the first Ctrl-C or SIGTERM")
	group(fs, "Clients")
	f.engine.addFields(cmd)
	f.engine.addTrace(cmd)
	f.engine.addRecord(cmd)
	group(fs, engineHeading)
	fs.SortFlags = false
	cmd.SetUsageFunc(groupedUsage)
	return cmd
}

// check refuses what is wrong before a model is read.
func (f *serveFlags) check() error {
	switch {
	case f.actors == "":
		return badUsage("there is nothing to serve by: give --actors HOST:PORT")
	case f.kept <= 0 || f.kept > 24*time.Hour:
		return badUsage("--kept is %s, must be more than 0 and at most 24h", f.kept)
	case f.drain < 0 || f.drain > 24*time.Hour:
		return badUsage("--drain is %s, must be from 0 to 24h", f.drain)
	}
	for _, check := range []func() error{f.secure.check, f.engine.check, func() error { return f.adapters.check(false) }} {
		if err := check(); err != nil {
			return err
		}
	}
	return f.adapters.makeRoom(&f.engine)
}

func (c *cli) serve(cmd *cobra.Command, f *serveFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	secure, err := f.secure.load(certs.Files.Server)
	if err != nil {
		return err
	}
	if err := wire.Check(f.actors, secure); err != nil {
		return fmt.Errorf("--actors %s: %w", f.actors, err)
	}
	ctx, stop := c.interrupts(cmd.Context(), "stopping")
	defer stop()
	model, err := wait(ctx, c, "reading model "+f.engine.model, func() (*generator, error) {
		return c.load(cmd, &f.engine, func(*texts.Local) engine.Hints { return engine.Hints{} })
	})
	if err != nil {
		return err
	}
	defer model.close(&err)
	if err := f.adapters.load(ctx, model.engine); err != nil {
		return ended(ctx, err)
	}
	c.sayUnsupported(model)
	g, err := c.listen(f, model, secure)
	if err != nil {
		return err
	}
	defer g.Close()
	c.say("serving %s to actors at %s", f.engine.model, g.Addr())
	err = untilCrash(ctx, model.engine)
	bounded, cancel := context.WithTimeout(context.Background(), f.drain)
	defer cancel()
	if err == nil {
		err = drain(bounded, model.engine, f.drain)
	}
	g.Drain(bounded) // clients read how it has ended, also by a crash
	return err
}

// listen begins to serve.
func (c *cli) listen(f *serveFlags, model *generator, secure *tls.Config) (*gateway.Gateway, error) {
	recommended, err := json.Marshal(model.generation)
	if err != nil {
		return nil, err
	}
	o := gateway.Options{Listen: f.actors, TLS: secure, Kept: f.kept, Ends: model.engine.Info().EOS, Recommended: recommended, Log: c.log()}
	g, err := gateway.New(model.engine, model.words(), o)
	if err != nil {
		return nil, fmt.Errorf("--actors %s: %w", f.actors, err)
	}
	return g, nil
}

// restPoll is how often it is looked whether an engine that a client has stopped runs
// again, as nothing tells.
const restPoll = time.Second

// untilCrash returns with an error when the engine crashes, and with nil at the end of ctx.
// Clients may stop the engine and start it again.
func untilCrash(ctx context.Context, e engine.API) error {
	for {
		err := e.Join(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(restPoll):
		}
	}
}

// drain stops an engine when what is open has ended, or with the end of ctx, after so long.
func drain(ctx context.Context, e engine.API, most time.Duration) error {
	err := e.Stop(ctx, engine.StopOptions{})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("what was open had not ended after %s, and is cancelled: --drain gives it longer", most)
	}
	return err
}
