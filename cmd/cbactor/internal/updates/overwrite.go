package updates

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// Overwrite is what updates in the memory of the only set cost, beside a plain copy of the
// same tensors by one thread.
type Overwrite struct {
	OverwritePerS float64 `json:"overwrite_bytes_per_s"` // while it is copied, under the pause
	CopyPerS      float64 `json:"copy_bytes_per_s"`      // of a plain copy
	Share         float64 `json:"overwrite_share"`       // of the first in the second
	PauseSeconds  float64 `json:"overwrite_pause_s"`     // from the first byte copied until the new weights are ready
}

// rounds is how often each is timed; the median counts.
const rounds = 5

// MeasureOverwrite updates an engine in place with the tensors of a set, and copies these
// plainly, in turn.
func MeasureOverwrite(ctx context.Context, e *engine.Engine, set *weights.Set) (o Overwrite, err error) {
	manifest, err := manifestOf(set)
	if err != nil {
		return o, err
	}
	plain := map[string][]byte{}
	for t := range set.All() {
		plain[t.Name] = make([]byte, len(t.Data))
	}
	var over, copied, pauses []time.Duration
	for i := range rounds {
		written, paused, err := overwrite(ctx, e, set, engine.UpdateOptions{Version: fmt.Sprintf("in-place-%d", i+1), Manifest: manifest})
		if err != nil {
			return o, err
		}
		over, pauses = append(over, written), append(pauses, paused)
		begin := time.Now()
		for t := range set.All() {
			copy(plain[t.Name], t.Data)
		}
		copied = append(copied, time.Since(begin))
	}
	for _, times := range [][]time.Duration{over, copied, pauses} {
		slices.Sort(times)
	}
	o.OverwritePerS = float64(set.Bytes()) / over[rounds/2].Seconds()
	o.CopyPerS = float64(set.Bytes()) / copied[rounds/2].Seconds()
	o.Share = o.OverwritePerS / o.CopyPerS
	o.PauseSeconds = pauses[rounds/2].Seconds()
	return o, nil
}

// overwrite is one update in place: how long it took to write, and until it computed.
func overwrite(ctx context.Context, e *engine.Engine, set *weights.Set, o engine.UpdateOptions) (written, paused time.Duration, err error) {
	var begin time.Time // of the second of the two times that tensors are sent
	err = e.UpdateInPlace(ctx, o, func(put weights.Put) error {
		begin = time.Now()
		for t := range set.All() {
			if err := put(t.Name, t.DType.String(), t.Shape, 0, t.Data); err != nil {
				return err
			}
		}
		written = time.Since(begin)
		return nil
	})
	return written, time.Since(begin), err
}
