package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/gpuexec/nvmlinfo"
	"github.com/cbactor/cbactor/server"
	"github.com/cbactor/cbactor/text/tools"
)

// serving is what `serve` serves, and by what.
type serving struct {
	models  []*generator // in the order of names
	names   []string
	gateway *gateway.Gateway // nil: no actors
	http    *server.Server   // nil: no HTTP
	spans   *spans           // of HTTP
	gpus    *nvmlinfo.Reader // of its metrics; nil: none
	failed  chan error       // why HTTP has ended before it was to
}

// listen begins to serve by all that is asked for.
func (s *serving) listen(c *cli, f *serveFlags) error {
	if f.actors != "" {
		if err := s.listenToActors(c, f); err != nil {
			return fmt.Errorf("--actors %s: %w", f.actors, err)
		}
	}
	if f.listen == "" {
		return nil
	}
	return s.listenToHTTP(c, f)
}

func (s *serving) listenToHTTP(c *cli, f *serveFlags) error {
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", f.listen, err)
	}
	o := server.Options{APIKey: f.key, AdminToken: f.token, AdminApart: f.admin != "", Version: builtVersion(), SaltByUser: f.saltByUser, WeightsRoots: f.roots, Limits: f.limits.Limits, Log: c.log(), Tracer: s.spans.tracer()}
	for i, m := range s.models {
		o.Models = append(o.Models, m.served(s.names[i]))
	}
	switch gpus, err := nvmlinfo.Open(); {
	case err == nil:
		s.gpus = gpus
		o.Collectors = append(o.Collectors, gpuMetrics{gpus.GPUs})
	case !errors.Is(err, nvmlinfo.ErrUnavailable): // else there are none
		c.say("warning: /metrics tells nothing of GPUs: %v", err)
	}
	if s.http, err = server.New(o); err != nil {
		return errors.Join(err, l.Close())
	}
	if f.key == "" && !ofThisMachine(l) {
		c.say("warning: whoever reaches %s may use it: --api-key-file has them show a key", l.Addr())
	}
	s.failed = make(chan error, 2)
	if f.admin != "" {
		if err := s.listenToAdmins(c, f); err != nil {
			return errors.Join(fmt.Errorf("--admin-listen %s: %w", f.admin, err), l.Close())
		}
	}
	go func() { s.failed <- s.http.Serve(l) }()
	for i, name := range s.names {
		c.say("serving %s at http://%s (%s)", name, l.Addr(), s.models[i].engine.Info().Executor)
	}
	return nil
}

// listenToAdmins serves the routes of administrators at an address of their own.
func (s *serving) listenToAdmins(c *cli, f *serveFlags) error {
	l, err := net.Listen("tcp", f.admin)
	if err != nil {
		return err
	}
	if f.token == "" && !ofThisMachine(l) {
		return errors.Join(badUsage("it is reached from elsewhere: --admin-token-file has administrators show a token, or give an address of this machine"), l.Close())
	}
	go func() { s.failed <- s.http.ServeAdmin(l) }()
	c.say("serving administrators at http://%s", l.Addr())
	return nil
}

// ofThisMachine says whether a listener is reached by programs of this machine alone.
func ofThisMachine(l net.Listener) bool {
	address, ok := l.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}

func (s *serving) listenToActors(c *cli, f *serveFlags) error {
	m := s.models[0]
	recommended, err := json.Marshal(m.generation)
	if err != nil {
		return err
	}
	o := gateway.Options{Listen: f.actors, TLS: f.tls, Kept: f.kept, Ends: m.engine.Info().EOS, Recommended: recommended, Log: c.log()}
	if s.gateway, err = gateway.New(m.engine, m.words(), o); err != nil {
		return err
	}
	c.say("serving %s to actors at %s (%s)", s.names[0], s.gateway.Addr(), m.engine.Info().Executor)
	return nil
}

// served is a model as HTTP serves it.
func (g *generator) served(name string) server.Model {
	m := server.Model{Name: name, Engine: g.engine, Texts: g.Service, Stored: g.stored}
	if g.codec != nil {
		m.Spell, m.Shown, m.Calls = g.codec.Spell, g.codec.TokenBytes, tools.Of(g.codec.ChatTemplate())
	}
	if !g.recommended.Greedy() {
		m.Defaults = &g.recommended
	}
	return m
}

// until returns with nil at the end of ctx, or with an error when an engine crashes or
// HTTP ends.
func (s *serving) until(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make(chan error, len(s.models))
	for _, m := range s.models {
		go func() { ends <- untilCrash(ctx, m.engine) }()
	}
	select {
	case err := <-ends:
		return err
	case err := <-s.failed:
		return err
	}
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

// drain stops the engines when what is open has ended, which may take so long, unless there
// was a crash, and lets clients read how it has ended.
func (s *serving) drain(most time.Duration, crash error) error {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	var all sync.WaitGroup
	if s.http != nil {
		all.Go(func() { s.http.Drain(ctx) })
	}
	errs := make([]error, len(s.models))
	for i, m := range s.models {
		if crash == nil {
			all.Go(func() { errs[i] = m.engine.Stop(ctx, engine.StopOptions{}) })
		}
	}
	all.Wait()
	err := errors.Join(errs...)
	if errors.Is(err, context.DeadlineExceeded) {
		s.halt()
		return fmt.Errorf("what was open had not ended after %s, and fails with what it has: --drain gives it longer", most)
	}
	if s.gateway != nil {
		s.gateway.Drain(ctx)
	}
	return errors.Join(crash, err)
}

// farewell is how long clients have to read how what was open has ended, where the time to
// drain has run out.
const farewell = 2 * time.Second

// refusing is how long calls are still refused that clients make on reading such an end: one
// without an answer would look for the server again.
const refusing = 500 * time.Millisecond

// halt ends what is open, and lets clients read that.
func (s *serving) halt() {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	var all sync.WaitGroup
	for _, m := range s.models {
		all.Go(func() {
			// That a step takes longer, or that it crashes, does not change that the time has run out.
			_ = m.engine.Stop(ctx, engine.StopOptions{Hard: true})
		})
	}
	all.Wait()
	if s.gateway != nil {
		s.gateway.Drain(ctx)
		time.Sleep(refusing)
	}
}

// close closes what is still there, and adds what went wrong with that to err.
func (s *serving) close(err *error) {
	if s.gateway != nil {
		s.gateway.Close()
	}
	for _, m := range s.models {
		m.close(err)
	}
	if s.gpus != nil {
		*err = errors.Join(*err, s.gpus.Close())
	}
}
