package kernels

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/cbactor/cbactor/sampling"
)

// Tokens are scored as a Sampler scores them, to the bit.
func TestScore(t *testing.T) {
	onBoth(t, func(r *rig) {
		const n, m, blocks = 700, 24, 5
		sampler, want := sampling.NewSampler(n), make([]sampling.Drawn, m)
		var logits []float32
		var list []int32
		for i := range want {
			row := r.row(n, 3, i%4*5, 0.45*float64(i%3))
			if i == 7 {
				row[r.random.IntN(n)] = float32(math.Inf(1))
			}
			id, top := int32(r.random.IntN(n)), int32(i%(MaxTold+1))
			if err := sampler.Score(row, id, top, &want[i]); err != nil {
				want[i].ID = -1
			}
			logits, list = append(logits, row...), append(list, id, top)
		}
		told := r.room(ToldBytes * m)
		r.ok(r.set.Score(r.stream, told, r.floats(logits), r.ints(list...), r.room(ScoreScratch(blocks, n)), m, n, blocks))
		records := r.get(told, ToldBytes*m)
		for i := range want {
			record, got := Told(records[ToldBytes*i:][:ToldBytes]), sampling.Drawn{}
			if record.ID() >= 0 {
				record.Scored(&got)
			} else {
				got.ID = record.ID()
			}
			if (want[i].ID < 0) != (i == 7) || !sameRecord(&got, &want[i]) {
				t.Errorf("row %d is told %+v, want %+v", i, got, want[i])
			}
		}
	})
}

// A record says nothing that is longer than it is.
func TestToldIsBounded(t *testing.T) {
	record := make([]byte, ToldBytes)
	binary.LittleEndian.PutUint32(record[4:], math.MaxInt32)
	var out sampling.Drawn
	if Told(record).Scored(&out); len(out.Top) != MaxTold {
		t.Errorf("%d tokens are told", len(out.Top))
	}
}
