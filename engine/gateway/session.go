package gateway

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// plain has a call obeyed that answers nothing but how it went.
func (g *guest) plain(c *call, run func(context.Context) error) error {
	g.start(c, nil, job{run: func(ctx context.Context) (*messages.Reply, error) { return nil, run(ctx) }})
	return nil
}

// encode turns text into ids.
func (g *guest) encode(c *call, m *messages.Encode) error {
	prompt, err := convert.EncodeOf(m)
	if err != nil {
		return err
	}
	g.start(c, nil, job{run: func(ctx context.Context) (*messages.Reply, error) {
		ids, err := g.texts.Encode(ctx, prompt)
		return &messages.Reply{What: &messages.Reply_Ids{Ids: &messages.Ids{Ids: ids}}}, err
	}})
	return nil
}

// decode turns ids into text.
func (g *guest) decode(c *call, m *messages.Decode) error {
	g.start(c, nil, job{run: func(ctx context.Context) (*messages.Reply, error) {
		words, err := g.texts.Decode(ctx, m.GetIds())
		return &messages.Reply{What: &messages.Reply_Words{Words: &messages.Words{Text: words}}}, err
	}})
	return nil
}

// status tells what the engine does.
func (g *guest) status(c *call, m *messages.AskStatus) error {
	g.start(c, nil, job{run: func(context.Context) (*messages.Reply, error) {
		s := convert.Status(g.engine.Status())
		s.Version, s.Kept, s.Adapters = g.engine.Version(), g.engine.Kept(), convert.Adapters(g.engine.Adapters())
		if m.GetMetrics() {
			text, err := json.Marshal(g.engine.Metrics())
			if err != nil {
				return nil, fmt.Errorf("the engine's numbers: %w", err)
			}
			s.Metrics = text
		}
		return &messages.Reply{What: &messages.Reply_Status{Status: s}}, nil
	}})
	return nil
}

func (g *guest) stop(c *call, m *messages.StopSession) error {
	o := engine.StopOptions{Hard: m.GetHard(), Keep: m.GetKeep(), Async: m.GetAsync()}
	return g.plain(c, func(ctx context.Context) error { return g.engine.Stop(ctx, o) })
}

// warmUp runs what requests will run.
func (g *guest) warmUp(c *call) error {
	return g.plain(c, func(ctx context.Context) error { return g.engine.Warmup(ctx, nil) })
}

// sleep gives memory back.
func (g *guest) sleep(c *call, m *messages.SleepParts) error {
	parts, err := convert.PartOf(m.GetParts())
	if err != nil {
		return err
	}
	return g.plain(c, func(ctx context.Context) error { return g.engine.Sleep(ctx, parts) })
}
