package server

import (
	"fmt"
	"log"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metricsPath is where Prometheus reads them.
const metricsPath = "/metrics"

// meters are what the server counts and measures by itself; what engines count is read from
// them when somebody asks (enginemetrics.go). Any goroutine may use them.
type meters struct {
	page      http.Handler
	answers   *prometheus.CounterVec     // by route and status
	refusals  *prometheus.CounterVec     // by code
	slow      prometheus.Counter         // connections that were cut
	sequences map[string]*sequenceMeters // by the name of the model
}

// newMeters makes them, in a registry of their own.
func (s *Server) newMeters() (*meters, error) {
	m := &meters{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "cbactor_http_requests_total",
			Help: "Requests of HTTP that were answered, by route and status; status 0: the client went before there was an answer."}, []string{"route", "status"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "cbactor_refused_total",
			Help: "Requests of HTTP that were refused or failed, by the code that their clients were told."}, []string{"code"}),
		slow: prometheus.NewCounter(prometheus.CounterOpts{Name: "cbactor_slow_readers_cut_total",
			Help: "Connections that were cut because their client did not take what was written."}),
		sequences: map[string]*sequenceMeters{},
	}
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "cbactor_calls_open", Help: "Calls that generate at the moment, streamed or not."},
		func() float64 { return float64(len(s.places)) })
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.answers, m.refusals, m.slow, open, &engineMetrics{s.models})
	for _, c := range s.options.Collectors {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("a collector of Options.Collectors: %w", err)
		}
	}
	context := 0
	for _, model := range s.models {
		context = max(context, model.Engine.Info().MaxContext)
	}
	for _, h := range histograms {
		vec := h.vec(context)
		registry.MustRegister(vec)
		for _, model := range s.models {
			one := m.sequences[model.Name]
			if one == nil {
				one = &sequenceMeters{}
				m.sequences[model.Name] = one
			}
			one.list = append(one.list, meter{vec.WithLabelValues(engineLabels(model.Name)...), h.of})
		}
	}
	gaps := interTokenLatency.vec(context)
	registry.MustRegister(gaps)
	for name, one := range m.sequences {
		one.gaps = gaps.WithLabelValues(engineLabels(name)...)
	}
	m.page = promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorLog: log.New(s.log, "", 0), ErrorHandling: promhttp.HTTPErrorOnError})
	return m, nil
}

// count counts a request that was answered with a status.
func (m *meters) count(a *account, status int) {
	m.answers.WithLabelValues(a.route, strconv.Itoa(status)).Inc()
	if a.failed != nil {
		m.refusals.WithLabelValues(a.failed.code).Inc()
	}
	if a.failed == errSlow {
		m.slow.Inc()
	}
}

// metrics answers GET /metrics.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.meters.page.ServeHTTP(w, r)
	return nil
}
