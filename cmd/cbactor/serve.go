package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/internal/certs"
	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/server"
)

const serveHelp = `Serve models over HTTP, with OpenAI's API, and to clients that speak in messages of actors.

HTTP has OpenAI's /v1/completions, /v1/chat/completions, /v1/responses and /v1/models, vLLM's /inference/v1/generate
and SGLang's /generate, /tokenize, /detokenize, /metrics, /health, /ready and /version; /openapi.json describes
all routes. With --api-key-file all but /health and /version ask for the key, as Authorization: Bearer KEY.
Who may pause and change weights shows the key of --admin-token-file in its place; without one, programs of this machine may,
and so whoever comes through a proxy or tunnel of it that does not say so: give that server a token.
They send weights, or name files of this machine, which are read in folders of --weights-root alone: docs/http.md has how.
--model may be repeated, with a name before it, NAME=MODEL; a request that names no model means the only one.

Clients of --actors are Go programs with package engine/remote, ` + "`cbactor generate --connect`" + `,
` + "`cbactor weights`" + ` and ` + "`cbactor status`" + `, and whoever speaks the protocol of docs/protocol.md. Without
certificates --actors is an address of this machine only; with --tls-ca, --tls-cert and --tls-key clients
must show a certificate of that authority, as ` + "`cbactor certs`" + ` makes them. Each of these clients can do everything
with the engine: generate, pause it, change its weights, stop it.

When it listens it says so on standard error, with the address: port 0 is one that is free.

The first Ctrl-C, or SIGTERM, lets what is open come to its end, at most for --drain, and refuses what is
new; then it ends, with exit status 0. What is open after that fails with what it has, as its clients are told,
and the exit status is 1. A second signal ends it at once.`

// defaultListen is where HTTP is served unless an address is given.
const defaultListen = "127.0.0.1:8000"

// serveFlags are the flags of `cbactor serve`.
type serveFlags struct {
	engine   engineFlags
	models   modelsFlag
	adapters adapterFlags

	listen     string
	keyFile    string
	admin      string // address of the routes of administrators; "": listen
	tokenFile  string
	saltByUser bool
	roots      []string
	limits     limitFlags
	otlp       string // where spans go; "": as the environment says

	actors string
	secure secureFlags
	kept   time.Duration

	drain time.Duration

	key   string      // that is in keyFile
	token string      // that is in tokenFile
	tls   *tls.Config // of secure
}

func (c *cli) serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve models over HTTP, with OpenAI's API, and to actors",
		Long:  serveHelp,
		Example: "  cbactor serve --model smollm2\n" +
			"  cbactor serve --model one=models/one --model two=models/two.gguf --listen 127.0.0.1:9000\n" +
			"  cbactor serve --model smollm2 --actors :7070 --tls-ca certs/ca.crt --tls-cert certs/server.crt --tls-key certs/server.key",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serve(cmd, f) },
	}
	fs := cmd.Flags()
	fs.Var(&f.models, "model", "model: tiny, smollm2, smollm2-bf16, ORG/NAME of one that was pulled, a checkpoint folder, or a .gguf file; before it may stand a name by which clients ask for it (repeatable; default tiny)")
	complete(cmd, "model", checkpoint.Names)
	fs.Var(&f.adapters, "adapter", "LoRA adapter for the model, a folder as PEFT writes it, and a name by which requests ask for it (repeatable)")
	group(fs, "Models")
	fs.StringVar(&f.listen, "listen", "", "address to serve HTTP at, HOST:PORT (default "+defaultListen+", but with --actors none)")
	fs.Var(pathFlag{path: &f.keyFile}, "api-key-file", "file with the key that clients of HTTP must show")
	fs.Var(pathFlag{path: &f.tokenFile}, "admin-token-file", "file with the token that clients must show to pause and to change weights (without it, those of this machine may)")
	fs.StringVar(&f.admin, "admin-listen", "", "address to serve the routes of administrators at, HOST:PORT, and nowhere else")
	fs.BoolVar(&f.saltByUser, "salt-by-user", false, "keep the prefix caches of users of HTTP apart, by user of their requests")
	fs.StringArrayVar(&f.roots, "weights-root", nil, "folder in which administrators may have weights and adapters read by their paths (repeatable; default: none)")
	group(fs, "HTTP")
	f.limits.add(fs)
	group(fs, "Limits of HTTP")
	c.logging.add(fs)
	fs.StringVar(&f.otlp, "otlp", "", "URL that takes traces of HTTP by OTLP, such as http://localhost:4318 (default: OTEL_EXPORTER_OTLP_ENDPOINT, or none)")
	group(fs, "Watching")
	fs.StringVar(&f.actors, "actors", "", "address to listen on for clients that speak the protocol of actors, HOST:PORT")
	f.secure.add(fs)
	fs.DurationVar(&f.kept, "kept", time.Minute, "how long a client that has lost its connection may come back to what it has open")
	group(fs, "Actors")
	fs.DurationVar(&f.drain, "drain", 30*time.Second, "how long what is open may go on after the first Ctrl-C or SIGTERM")
	group(fs, "Ending")
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
	if f.listen == "" && f.actors == "" {
		f.listen = defaultListen
	}
	switch {
	case f.kept <= 0 || f.kept > 24*time.Hour:
		return badUsage("--kept is %s, must be more than 0 and at most 24h", f.kept)
	case f.drain < 0 || f.drain > 24*time.Hour:
		return badUsage("--drain is %s, must be from 0 to 24h", f.drain)
	case f.secure != (secureFlags{}) && f.actors == "":
		return badUsage("--tls-ca, --tls-cert and --tls-key are for --actors: give it, or leave them out")
	case f.listen == "" && (f.keyFile != "" || f.saltByUser || f.tokenFile != "" || f.admin != ""):
		return badUsage("--api-key-file, --salt-by-user, --admin-token-file and --admin-listen are for --listen: give it, or leave them out")
	case f.listen == "" && len(f.roots) > 0:
		return badUsage("--weights-root is for --listen: give it, or leave it out")
	case f.listen == "" && (f.limits.Limits != server.DefaultLimits || f.otlp != ""):
		return badUsage("--otlp and limits of HTTP are for --listen: give it, or leave them out")
	}
	for _, check := range []func() error{f.secure.check, f.limits.check, func() error { return checkOTLP(f.otlp) }, f.checkAddresses, f.checkSeveral, f.engine.check, func() error { return f.adapters.check(false) }, f.checkNames, f.checkRoots, f.readKeys} {
		if err := check(); err != nil {
			return err
		}
	}
	return f.adapters.makeRoom(&f.engine)
}

// checkAddresses refuses what is no address to listen at.
func (f *serveFlags) checkAddresses() error {
	for _, one := range []struct{ flag, address string }{{"--listen", f.listen}, {"--admin-listen", f.admin}, {"--actors", f.actors}} {
		if one.address == "" {
			continue
		}
		_, port, err := net.SplitHostPort(one.address)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return badUsage("%s is %.60q, must be HOST:PORT: %w", one.flag, one.address, err)
		}
	}
	return nil
}

// checkSeveral refuses what goes with one model alone. The threads of several engines are
// not bound to the same processors unless somebody wants it.
func (f *serveFlags) checkSeveral() error {
	if len(f.models.models()) == 1 {
		return nil
	}
	for _, one := range []struct {
		flag  string
		given bool
	}{{"actors", f.actors != ""}, {"adapter", len(f.adapters.list) > 0}, {"trace", f.engine.trace != ""}, {"record", f.engine.record != ""}} {
		if one.given {
			return badUsage("--%s is for one model, %d are given: serve the others by a process of their own", one.flag, len(f.models.models()))
		}
	}
	f.engine.given = slices.Insert(f.engine.given, 0, engine.Given{Name: "pin", Text: "false", Called: "several models"})
	return nil
}

// checkNames refuses an adapter that nobody could ask for, as a model has its name.
func (f *serveFlags) checkNames() error {
	for _, a := range f.adapters.list {
		if slices.ContainsFunc(f.models.models(), func(m namedModel) bool { return m.name == a.name }) {
			return badUsage("--adapter %s=%s has the name of the model: give it another one", a.name, a.folder)
		}
	}
	return nil
}

// checkRoots refuses what is no folder.
func (f *serveFlags) checkRoots() error {
	for _, root := range f.roots {
		if info, err := os.Stat(root); err != nil {
			return badFile("--weights-root", err)
		} else if !info.IsDir() {
			return badUsage("--weights-root %s is no folder", root)
		}
	}
	return nil
}

// maxKey bounds the file of a key.
const maxKey = 4096

// readKeys reads what clients must show.
func (f *serveFlags) readKeys() (err error) {
	if f.key, err = readKey("--api-key-file", f.keyFile); err == nil {
		f.token, err = readKey("--admin-token-file", f.tokenFile)
	}
	if err == nil && f.token != "" && f.token == f.key {
		err = badUsage("--admin-token-file has the key of --api-key-file: every client would be an administrator")
	}
	return err
}

// readKey reads the key that is in a file; "": none.
func readKey(flag, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", badFile(flag, err)
	}
	key := strings.TrimSpace(string(data))
	if key == "" || len(key) > maxKey || strings.ContainsAny(key, " \t\r\n") {
		return "", badUsage("%s %s: must have one key, of at most %d characters without spaces", flag, file, maxKey)
	}
	return key, nil
}

func (c *cli) serve(cmd *cobra.Command, f *serveFlags) (err error) {
	if err := c.logging.check(c.verbose); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.tls, err = f.secure.load(certs.Files.Server); err != nil {
		return err
	}
	if f.actors != "" {
		if err := wire.Check(f.actors, f.tls); errors.Is(err, wire.ErrInsecure) {
			return badUsage("--actors %s: %w", f.actors, err)
		} else if err != nil {
			return fmt.Errorf("--actors %s: %w", f.actors, err)
		}
	}
	ctx, stop := c.interrupts(cmd.Context(), "stopping")
	defer stop()
	s := &serving{}
	defer s.close(&err)
	if s.spans, err = c.openSpans(ctx, f.otlp); err != nil {
		return err
	}
	defer s.spans.close(c)
	for _, m := range f.models.models() {
		if err := c.open(ctx, cmd, f, m, s); err != nil {
			return err
		}
	}
	if err := f.adapters.load(ctx, s.models[0].engine); err != nil {
		return ended(ctx, err)
	}
	if err := s.listen(c, f); err != nil {
		return err
	}
	return s.drain(f.drain, s.until(ctx))
}

// open starts the engine of a model.
func (c *cli) open(ctx context.Context, cmd *cobra.Command, f *serveFlags, m namedModel, s *serving) error {
	flags := f.engine
	flags.model, flags.called = m.model, m.name
	model, err := wait(ctx, c, "reading model "+m.model, func() (*generator, error) {
		return c.load(cmd, &flags, func(*texts.Local) engine.Hints { return engine.Hints{} })
	})
	if err != nil {
		return err
	}
	s.models, s.names = append(s.models, model), append(s.names, m.name)
	c.sayUnsupported(model)
	return nil
}
