package updates

import (
	"context"
	"slices"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// Delta is what an update of some tensors costs, after which those who generate have
// their cache computed again.
type Delta struct {
	Bytes        int     `json:"delta_bytes"`
	StageSeconds float64 `json:"delta_stage_s"`
	ReadySeconds float64 `json:"delta_ready_s"`
	Recomputed   int     `json:"delta_recomputed_tokens"` // positions of caches that were given up

	at time.Time // it was ready
}

// deltaShare is one tensor of so many.
const deltaShare = 10

// sendDelta updates every tenth tensor.
func sendDelta(ctx context.Context, e *engine.Engine, set *weights.Set, m weights.Manifest) (d Delta, err error) {
	o := engine.UpdateOptions{Base: e.Version(), Version: "delta", Manifest: weights.Manifest{Partial: true}, KV: engine.KVRecompute}
	for i := 0; i < len(m.Tensors); i += deltaShare {
		o.Manifest.Tensors = append(o.Manifest.Tensors, m.Tensors[i])
		t, _ := set.Tensor(m.Tensors[i].Name)
		d.Bytes += len(t.Data)
	}
	s, err := send(ctx, e, set, o)
	d.StageSeconds, d.ReadySeconds, d.at = s.stage.Seconds(), s.ready.Seconds(), time.Now()
	return d, err
}

// count counts what was given up of the caches of outputs.
func (d *Delta) count(outputs []engine.Output) {
	for _, out := range outputs {
		times := out.Timing.Tokens
		n, _ := slices.BinarySearchFunc(times, d.at, time.Time.Compare)
		if n > 0 && (n < len(times) || out.FinishReason == engine.FinishCancelled) {
			d.Recomputed += len(out.PromptIDs) + n - 1 // the last token is not in it
		}
	}
}
