package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// patientTime bounds calls without a context.
const patientTime = 5 * time.Second

// Values of Status.Mode: the engine does not answer, the client is closed.
const (
	unreachable = "unreachable"
	closed      = "closed"
)

// State is what an engine does at one moment.
type State struct {
	engine.Status
	Version  string // of the weights that serve
	Kept     string // that Rollback can go back to; "": none
	Adapters []engine.Adapter
	Metrics  engine.Metrics
}

// State asks once for all that Status, Version, Kept, Adapters and Metrics tell, and says why there
// is no answer where there is none.
func (c *Client) State(ctx context.Context) (s State, err error) {
	m, err := c.look(ctx, true)
	if err != nil {
		return s, err
	}
	if s.Status, err = convert.StatusOf(m); err != nil {
		return s, err
	}
	s.Version, s.Kept, s.Adapters = m.GetVersion(), m.GetKept(), convert.AdaptersOf(m.GetAdapters())
	if err := json.Unmarshal(m.GetMetrics(), &s.Metrics); err != nil {
		return s, fmt.Errorf("%w: the engine's numbers: %w", ErrMalformed, err)
	}
	return s, nil
}

// look asks for the engine's state, and its numbers or not.
func (c *Client) look(ctx context.Context, numbers bool) (*messages.Status, error) {
	r, err := c.ask(ctx, &call{message: &messages.Call{What: &messages.Call_Status{Status: &messages.AskStatus{Metrics: numbers}}}})
	return r.GetStatus(), err
}

// glance looks without a context; nil: the engine does not answer.
func (c *Client) glance(numbers bool) *messages.Status {
	ctx, cancel := context.WithTimeout(context.Background(), patientTime)
	defer cancel()
	m, err := c.look(ctx, numbers)
	if err != nil {
		return nil
	}
	return m
}

// Status is what the engine does now. Its mode is "unreachable" where the engine does not
// answer within 5 s.
func (c *Client) Status() engine.Status {
	m := c.glance(false)
	s, err := convert.StatusOf(m)
	switch {
	case c.link.over():
		return engine.Status{Mode: closed}
	case m == nil || err != nil:
		return engine.Status{Mode: unreachable}
	}
	return s
}

// Metrics are the engine's numbers; zero where it does not answer within 5 s.
func (c *Client) Metrics() (m engine.Metrics) {
	if err := json.Unmarshal(c.glance(true).GetMetrics(), &m); err != nil {
		return engine.Metrics{}
	}
	return m
}

// Running tells that a session is under way, as Status does.
func (c *Client) Running() bool {
	mode := c.Status().Mode
	return mode != "stopped" && mode != closed && mode != unreachable
}

// Version is the version of the weights that serve; "": the engine does not answer within
// 5 s.
func (c *Client) Version() string { return c.glance(false).GetVersion() }

// Kept is the version that Rollback can go back to; "": none, or as Version.
func (c *Client) Kept() string { return c.glance(false).GetKept() }

// Adapters are those that requests may name; nil: none, or the engine does not answer
// within 5 s.
func (c *Client) Adapters() []engine.Adapter {
	return convert.AdaptersOf(c.glance(false).GetAdapters())
}

// Start is engine.Engine.Start.
func (c *Client) Start(ctx context.Context) error {
	return c.do(ctx, &messages.Call{What: &messages.Call_Start{Start: &messages.StartSession{}}})
}

// Stop is engine.Engine.Stop: of the engine, for all its clients.
func (c *Client) Stop(ctx context.Context, o engine.StopOptions) error {
	return c.do(ctx, &messages.Call{What: &messages.Call_Stop{Stop: &messages.StopSession{Hard: o.Hard, Keep: o.Keep, Async: o.Async}}})
}

// Join is engine.Engine.Join.
func (c *Client) Join(ctx context.Context) error {
	return c.do(ctx, &messages.Call{What: &messages.Call_Join{Join: &messages.JoinSession{}}})
}

// Warmup is engine.Engine.Warmup. It is one part: progress is told its beginning and its end.
func (c *Client) Warmup(ctx context.Context, progress func(done, total int)) error {
	if progress == nil {
		progress = func(int, int) {}
	}
	progress(0, 1)
	if err := c.do(ctx, &messages.Call{What: &messages.Call_Warmup{Warmup: &messages.Warmup{}}}); err != nil {
		return err
	}
	progress(1, 1)
	return nil
}

// Sleep is engine.Engine.Sleep.
func (c *Client) Sleep(ctx context.Context, parts engine.Part) error {
	return c.do(ctx, &messages.Call{What: &messages.Call_Sleep{Sleep: &messages.SleepParts{Parts: uint32(parts)}}})
}

// Wake is engine.Engine.Wake.
func (c *Client) Wake(ctx context.Context) error {
	return c.do(ctx, &messages.Call{What: &messages.Call_Wake{Wake: &messages.WakeUp{}}})
}
