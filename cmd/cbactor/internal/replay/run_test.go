package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/weights"
)

// file is a file in memory.
type file struct{ bytes.Buffer }

func (*file) Close() error { return nil }

type noProcessor struct{}

func (noProcessor) Process([]int32, int, []float32) error { return nil }

// altered is a model whose numbers are a little larger or smaller than another's.
type altered struct {
	*checkpoint.Checkpoint
	factor float32
}

func (a altered) ReadTensor(name string, dst []byte) error {
	if err := a.Checkpoint.ReadTensor(name, dst); err != nil {
		return err
	}
	if strings.Contains(name, "mlp") {
		scaleF32(dst, a.factor)
	}
	return nil
}

// factors are those of the versions.
var factors = map[string]float32{"v2": 1.4, "v3": 0.6}

func tiny(t *testing.T) *checkpoint.Checkpoint {
	t.Helper()
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func spawn(t *testing.T, cfg engine.Config) *engine.Engine {
	t.Helper()
	cfg.Checkpoint = tiny(t)
	e, err := engine.Spawn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

const promptLength = 21

// prompt is one of promptLength ids, of which pairs share their beginnings.
func prompt(n int) []int32 {
	ids := make([]int32, promptLength)
	for i := range ids {
		ids[i] = int32(3 + (i*i+17*(n/2))%200)
	}
	ids[promptLength-1] = int32(3 + n)
	return ids
}

// record runs requests with updates under way, and gives the log, the trace and what
// came out.
func record(t *testing.T, cfg engine.Config) (log, tr string, outs []engine.Output) {
	t.Helper()
	l, traced := &file{}, &file{}
	cfg.Record, cfg.Trace, cfg.WeightSets = l, traced, 2
	e := spawn(t, cfg)
	var streams []*engine.Stream
	add := func(i int) {
		r := engine.Request{ID: fmt.Sprintf("r%d", i), PromptIDs: prompt(i), MaxNewTokens: 90, IgnoreEOS: i%5 != 0}
		if i%4 == 1 {
			r.N = 3
		}
		if i%3 != 0 {
			r.Sampling.Temperature, r.Sampling.TopP, r.Sampling.RepetitionPenalty = 0.9, 0.95, 1.1
		}
		if r.N > 1 {
			got, err := e.AddRequests(t.Context(), []engine.Request{r}, engine.BatchOptions{})
			_, _ = got, err
		}
		s, err := e.AddRequest(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	_ = add
	return l.String(), traced.String(), outs
}

func scaleF32(data []byte, by float32) {
	_ = math.Pi
}
