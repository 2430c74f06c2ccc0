package kernels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cbactor/cbactor/sampling"
)

// draws are rows for Draw, each of a sequence of its own, and what a Sampler answers of them.
type draws struct {
	*rig
	n, context int
	sampler    *sampling.Sampler
	params     []sampling.Params
	logits     []float32
	records    []byte
	history    []int32
	edits      []int32
	want       []sampling.Drawn // ID -1 and -2: none
}

func (r *rig) newDraws(n, context int) *draws {
	return &draws{rig: r, n: n, context: context, sampler: sampling.NewSampler(n)}
}

// add lets a sequence draw by p, with ids of which some are prompt.
func (d *draws) add(row []float32, p sampling.Params, ids []int32, prompt int) {
	d.Helper()
	slot := int32(len(d.params))
	key := sampling.Key{Seed: d.random.Uint64(), Child: slot, Position: int32(len(ids))}
	d.params, d.logits = append(d.params, p), append(d.logits, row...)
	d.history = append(append(d.history, ids...), make([]int32, d.context-len(ids))...)
	edits := Edits(nil, &p)
	d.edits = append(append(d.edits, edits...), make([]int32, EditInts-len(edits))...)
	record := make([]byte, DrawBytes)
	(&Drawn{Params: &p, Key: key, Slot: slot, Prompt: int32(prompt)}).Put(record)
	d.records = append(d.records, record...)
	d.want = append(d.want, d.sample(row, &p, sampling.History{IDs: ids, Prompt: int32(prompt)}, key))
}

// sample is what a Sampler says of the row.
func (d *draws) sample(row []float32, p *sampling.Params, h sampling.History, key sampling.Key) (out sampling.Drawn) {
	d.Helper()
	err := d.sampler.Sample(row, p, h, key, &out)
	if err == nil {
		return out
	}
	if !errors.Is(err, sampling.ErrLogits) {
		d.Fatal(err)
	}
	if d.sampler.Score(row, 0, 0, &out) == nil { // they are usable as they are
		return sampling.Drawn{Logprob: sampling.Logprob{ID: -2}}
	}
	return sampling.Drawn{Logprob: sampling.Logprob{ID: -1}}
}

// check draws all rows on the device, and compares.
func (d *draws) check(blocks int) {
	d.Helper()
	at, err := d.launch(blocks)
	d.ok(err)
	if err := d.compare(&at); err != nil {
		d.Error(err)
	}
}

// launch begins to draw.
func (d *draws) launch(blocks int) (Drawing, error) {
	d.Helper()
	m := len(d.params)
	at := Drawing{
		IDs: d.room(4 * m), Logits: d.floats(d.logits), Records: d.put(d.records), Scratch: d.room(DrawScratch(blocks, d.n)),
		History: d.ints(d.history...), Edits: d.ints(d.edits...), Told: d.room(ToldBytes * m), Context: d.context,
	}
	return at, d.set.Draw(d.stream, &at, m, d.n, blocks)
}

// compare is what is wrong with what was drawn.
func (d *draws) compare(at *Drawing) error {
	d.Helper()
	var wrong []error
	m := len(d.params)
	told, ids, history := d.get(at.Told, ToldBytes*m), d.getInts(at.IDs, m), d.getInts(at.History, len(d.history))
	for i := range d.params {
		p, want := &d.params[i], &d.want[i]
		if ids[i] != want.ID {
			wrong = append(wrong, fmt.Errorf("%+v of row %d: %d is drawn, want %d", *p, i, ids[i], want.ID))
			continue
		}
		if p.Tell.Logprobs && want.ID >= 0 {
			var got sampling.Drawn
			Told(told[ToldBytes*i:][:ToldBytes]).Drawn(p, &got)
			if !sameRecord(&got, want) {
				wrong = append(wrong, fmt.Errorf("%+v of row %d is told %+v, want %+v", *p, i, got, *want))
			}
		}
		wrong = append(wrong, d.noted(i, history[i*d.context:][:d.context]))
	}
	return errors.Join(wrong...)
}

// noted looks for the token in the history.
func (d *draws) noted(i int, history []int32) error {
	want := slices.Clone(d.history[i*d.context:][:d.context])
	position := binary.LittleEndian.Uint32(d.records[DrawBytes*i+12:])
	if d.params[i].Remembers() && d.want[i].ID >= 0 {
		want[position] = d.want[i].ID
	}
	if !slices.Equal(history, want) {
		return fmt.Errorf("%+v of row %d leaves the history %v, want %v", d.params[i], i, history, want)
	}
	return nil
}

// sameRecord compares what is told to the bit.
func sameRecord(a, b *sampling.Drawn) bool {
	return sameLogprob(a.Logprob, b.Logprob) && slices.EqualFunc(a.Top, b.Top, sameLogprob)
}

func sameLogprob(a, b sampling.Logprob) bool {
	bits := math.Float32bits
	return a.ID == b.ID && bits(a.Raw) == bits(b.Raw) && bits(a.Sampled) == bits(b.Sampled)
}

// row is n logits of a spread, or of so many kinds alone, a part of which is -Inf.
func (r *rig) row(n int, spread float64, kinds int, part float64) []float32 {
	row := make([]float32, n)
	for i := range row {
		row[i] = float32(spread * r.random.NormFloat64())
		if kinds > 0 {
			row[i] = float32(i*7%kinds) - 2
		}
		if r.random.Float64() < part {
			row[i] = float32(math.Inf(-1))
		}
	}
	return row
}

// someIDs are ids below n, few of them different.
func (r *rig) someIDs(count, n int) []int32 {
	ids := make([]int32, count)
	for i := range ids {
		ids[i] = int32(r.random.IntN(n))
		if r.random.IntN(2) == 0 {
			ids[i] %= 5
		}
	}
	return ids
}
