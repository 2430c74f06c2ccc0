package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// spans is where spans go; the zero one takes none.
type spans struct{ provider *sdktrace.TracerProvider }

// farewellOfSpans is how long the last spans have to be taken.
const farewellOfSpans = 2 * time.Second

// checkOTLP refuses an endpoint that is none; "": as the environment says.
func checkOTLP(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return badUsage("--otlp is %q, must be a URL such as http://localhost:4318", endpoint)
	}
	return nil
}

// openSpans sends spans by OTLP over HTTP to an endpoint, or to that of the environment
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter), which may say more, such as
// headers and how many traces are kept (OTEL_TRACES_SAMPLER). Without either there are none.
func (c *cli) openSpans(ctx context.Context, endpoint string) (*spans, error) {
	if cmp.Or(endpoint, os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")) == "" {
		return &spans{}, nil
	}
	var options []otlptracehttp.Option
	if endpoint != "" {
		options = append(options, otlptracehttp.WithEndpointURL(tracesURL(endpoint)))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("traces by OTLP: %w", err)
	}
	what, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "cbactor"), attribute.String("service.version", builtVersion())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces by OTLP: %w", err)
	}
	var once sync.Once
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		once.Do(func() { c.say("warning: traces do not arrive: %v", err) })
		l := c.log()
		l.Warn().Err(err).Msg("traces")
	}))
	return &spans{sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(what))}, nil
}

// tracesURL is where an endpoint takes traces, unless it says so itself.
func tracesURL(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err == nil && strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
		return u.String()
	}
	return endpoint
}

// tracer makes spans; nil: there are none.
func (s *spans) tracer() trace.Tracer {
	if s.provider == nil {
		return nil
	}
	return s.provider.Tracer("github.com/cbactor/cbactor/server")
}

// close sends what has not been sent.
func (s *spans) close(c *cli) {
	if s.provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewellOfSpans)
	defer cancel()
	if err := s.provider.Shutdown(ctx); err != nil {
		c.say("warning: the last traces were not sent: %v", err)
	}
}
