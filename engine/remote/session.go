package remote

import (
	"context"
	"encoding/json"
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

// look asks for the engine's state, and its numbers or not; nil: it does not answer.
func (c *Client) look(numbers bool) *messages.Status {
	ctx, cancel := context.WithTimeout(context.Background(), patientTime)
	defer cancel()
	r, err := c.ask(ctx, &call{message: &messages.Call{What: &messages.Call_Status{Status: &messages.AskStatus{Metrics: numbers}}}})
	if err != nil {
		return nil
	}
	return r.GetStatus()
}

// Status is what the engine does now. Its mode is "unreachable" where the engine does not
// answer within 5 s.
func (c *Client) Status() engine.Status {
	m := c.look(false)
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
	if err := json.Unmarshal(c.look(true).GetMetrics(), &m); err != nil {
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
func (c *Client) Version() string { return c.look(false).GetVersion() }

// Kept is the version that Rollback can go back to; "": none, or as Version.
func (c *Client) Kept() string { return c.look(false).GetKept() }

// Adapters are those that requests may name; nil: none, or the engine does not answer
// within 5 s.
func (c *Client) Adapters() []engine.Adapter { return convert.AdaptersOf(c.look(false).GetAdapters()) }

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
