package server

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/net/netutil"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text/tools"
)

// Options say what a Server serves and to whom.
type Options struct {
	Models []Model // one or more
	APIKey string  // that every route but /health and /version asks for; "": none does

	// AdminToken is what the routes of administrators ask for in its place, and opens all
	// others, too; "": they answer programs of this machine alone.
	AdminToken string
	AdminApart bool // these routes are AdminHandler's alone

	Version string // of the program, for /version

	// SaltByUser separates the prefix caches of users: the user of a request is its salt
	// unless it has a cache_salt.
	SaltByUser bool

	// WeightsRoots are the folders of this machine in which routes may be told to read
	// weights and adapters; none: in no folder.
	WeightsRoots []string

	Limits Limits
	Log    zerolog.Logger // a line for each request, without its prompts, texts and keys
	Tracer trace.Tracer   // a span for each request, but GET; nil: none

	Collectors []prometheus.Collector // of what else /metrics tells
}

// Model is a model that is served.
type Model struct {
	Name   string // by which clients ask for it
	Engine engine.API
	Texts  texts.Service

	// Spell gives the bytes of a token, for log-probabilities; with nil tokens are told by
	// their ids.
	Spell func(id int32) []byte

	// Shown gives the bytes of a token that texts show, none for a special one; nil: those of
	// Spell.
	Shown func(id int32) []byte

	// Stored is the type that the model's files have most weights in, as safetensors spells
	// it, such as "BF16"; "": nobody knows.
	Stored string

	// Calls is the form in which the model writes calls of functions; with None it is offered
	// none.
	Calls tools.Style

	// Defaults are what a request has that says nothing about sampling; nil: OpenAI's, which
	// is temperature 1.
	Defaults *sampling.Params

	trainer *trainer // of a Server's models
}

// Server answers HTTP. See the package for what it owns.
type Server struct {
	models  []Model
	options Options
	limits  Limits
	log     zerolog.Logger
	begun   time.Time
	key     secret
	token   secret
	meters  *meters
	fronts  [2]*http.Server // for clients, and for administrators alone
	places  chan struct{}   // one taken for each call that generates

	held     atomic.Int64  // bytes of the bodies of open requests
	decoders chan struct{} // one taken for each large body of which values are made
	watchers chan struct{} // one taken for each call that waits for other weights
	errands  atomic.Int64  // calls of administrators that are open

	open  openCalls
	roots []root

	draining chan struct{} // closed: no new call generates
	ending   context.Context
	cutOff   context.CancelCauseFunc // ends what is open
	once     sync.Once
}

// New makes a server. Errors say which model is wrong.
func New(o Options) (*Server, error) {
	if len(o.Models) == 0 {
		return nil, errors.New("there is no model to serve: give at least one")
	}
	for i, m := range o.Models {
		switch {
		case m.Name == "" || m.Engine == nil || m.Texts == nil:
			return nil, fmt.Errorf("model %d has no name, no engine or no texts: give all three", i+1)
		case slices.ContainsFunc(o.Models[:i], func(other Model) bool { return other.Name == m.Name }):
			return nil, fmt.Errorf("two models have the name %q: give each its own", m.Name)
		}
	}
	s := &Server{models: slices.Clone(o.Models), options: o, limits: o.Limits.filled(), log: o.Log, begun: time.Now(), draining: make(chan struct{})}
	var err error
	if s.roots, err = rootsOf(o.WeightsRoots); err != nil {
		return nil, err
	}
	for i := range s.models {
		s.models[i].trainer = new(trainer)
	}
	s.places, s.decoders = make(chan struct{}, s.limits.Calls), make(chan struct{}, decoders)
	s.watchers = make(chan struct{}, maxWatchers)
	s.ending, s.cutOff = context.WithCancelCause(context.Background())
	if s.meters, err = s.newMeters(); err != nil {
		return nil, err
	}
	s.key, s.token = newSecret(o.APIKey), newSecret(o.AdminToken)
	atAdmins := errKey
	if s.token.set {
		atAdmins = errToken
	}
	for i, guarded := range [2]http.Handler{s.guarded(s.mux(true, !o.AdminApart), errKey), s.guarded(s.mux(false, true), atAdmins)} {
		s.fronts[i] = &http.Server{Handler: s.named(guarded), ReadHeaderTimeout: s.limits.Header, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: log.New(s.log, "", 0)}
	}
	return s, nil
}

// Handler answers every route, but with AdminApart those of administrators, for an
// http.Server: it sets deadlines of its connections.
func (s *Server) Handler() http.Handler { return s.fronts[0].Handler }

// AdminHandler answers the routes of administrators, /health and /version, likewise.
func (s *Server) AdminHandler() http.Handler { return s.fronts[1].Handler }

// Serve answers by Handler what comes to a listener, which it closes, until Drain or an
// error of it.
func (s *Server) Serve(l net.Listener) error { return s.serveAt(s.fronts[0], l) }

// ServeAdmin does so by AdminHandler.
func (s *Server) ServeAdmin(l net.Listener) error { return s.serveAt(s.fronts[1], l) }

func (s *Server) serveAt(front *http.Server, l net.Listener) error {
	if err := front.Serve(netutil.LimitListener(l, s.limits.Connections)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP at %s: %w", l.Addr(), err)
	}
	return nil
}

// Drain refuses new calls that generate with 503, and returns when those that are open, and
// those of administrators, have been answered and every connection is closed. When ctx ends first, they are cut off, and told so.
func (s *Server) Drain(ctx context.Context) {
	s.once.Do(func() { close(s.draining) })
	s.idle(ctx)
	s.cutOff(errShutdown)
	grace, cancel := context.WithTimeout(context.Background(), graceTime)
	defer cancel()
	for _, front := range s.fronts {
		if err := front.Shutdown(grace); err != nil {
			s.log.Warn().Err(err).Msg("connections are closed in the middle of an answer")
			if err := front.Close(); err != nil {
				s.log.Warn().Err(err).Msg("close connections")
			}
		}
	}
}

// drainEvery is how often a server that drains looks at the calls of administrators.
const drainEvery = 5 * time.Millisecond

// idle takes the places of all calls that generate, as they end, and waits for those of
// administrators.
func (s *Server) idle(ctx context.Context) {
	for range cap(s.places) {
		select {
		case s.places <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
	look := time.NewTicker(drainEvery)
	defer look.Stop()
	for s.errands.Load() > 0 {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// errand counts the calls that come to a handler as those of administrators.
func (s *Server) errand(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.errands.Add(1)
		defer s.errands.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// closing refuses what is new once the server drains.
func (s *Server) closing() error {
	select {
	case <-s.draining:
		return errShutdown
	default:
		return nil
	}
}

// enter gives a call that generates its place, and its context, which ends when its client
// has gone or the server ends; leave gives both back.
func (s *Server) enter(r *http.Request) (ctx context.Context, leave func(), err error) {
	if err := s.closing(); err != nil {
		return nil, nil, err
	}
	select {
	case s.places <- struct{}{}:
	default:
		return nil, nil, errBusy
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	unbind := context.AfterFunc(s.ending, func() { cancel(errShutdown) })
	return ctx, func() {
		unbind()
		cancel(nil)
		<-s.places
	}, nil
}
