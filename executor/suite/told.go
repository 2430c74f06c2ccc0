package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// tellers are requests that ask for everything that can be told, and for less.
func tellers(info executor.Info) []request {
	requests := prompts(info, 1, 9, 2, 23, 31, 14, 8)
	for i, tell := range []sampling.Tell{
		{Logprobs: true, Prompt: true},
		{Logprobs: true, Top: 5, Kept: true, Prompt: true},
		{Prompt: true},
		{Logprobs: true, Top: 50, Prompt: true},
		{Prompt: true, Top: 3},
		{},
		{Kept: true},
	} {
		requests[i].sampling.Tell, requests[i].seed = tell, uint64(i)
		if i%2 == 1 {
			requests[i].sampling.Temperature, requests[i].sampling.TopK = 1.5, 30
		}
	}
	requests[4].n = 0 // only scored
	return requests
}

// testTold runs the same requests in many ways: what is told of their tokens and
// prompts is the same to the bit, and asking for it changes no token. The driver
// checks each record.
func testTold(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := tellers(d.info)
	want := d.run(requests, alone)
	for _, p := range []policy{
		{chunk: 1, together: 1, ahead: 1},
		{chunk: 3, together: 6, ahead: 1, shuffle: 1},
		{chunk: 5, together: 3, ahead: d.info.MaxOutstanding},
		{chunk: 32, together: 6, ahead: d.info.MaxOutstanding},
	} {
		for i, s := range d.run(requests, p) {
			sameTold(t, fmt.Sprintf("%+v: request %d", p, i), s, want[i])
		}
	}
	silent := slices.Clone(requests)
	for i := range silent {
		silent[i].sampling.Tell = sampling.Tell{}
	}
	same(t, "told nothing", tokens(t, d.run(silent, policy{chunk: 32, together: 6, ahead: 1})), tokens(t, want))
}

// testToldResumed admits sequences with what they had generated: their prompts are
// scored as before, and no further.
func testToldResumed(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	for i, r := range tellers(d.info) {
		want := d.run([]request{r}, alone)[0]
		kept := min(2, r.n)
		r.promptLen = len(r.ids)
		r.ids, r.n = slices.Concat(r.ids, want.out[:kept]), r.n-kept
		got := d.run([]request{r}, policy{chunk: 5, together: 1, ahead: 1})[0]
		if want.out = want.out[kept:]; len(want.drawn) > 0 {
			want.drawn = want.drawn[kept:]
		}
		sameTold(t, fmt.Sprintf("request %d resumed", i), got, want)
	}
}

// sameTold compares tokens and records to the bit.
func sameTold(t *testing.T, what string, got, want *sequence) {
	t.Helper()
	same(t, what, tokens(t, []*sequence{got}), [][]int32{want.out})
	for _, c := range []struct {
		what      string
		got, want []sampling.Drawn
	}{{"tokens", got.drawn, want.drawn}, {"prompt", got.prompt, want.prompt}} {
		if !slices.EqualFunc(c.got, c.want, sameRecord) {
			t.Errorf("%s: of its %s is told %v, want %v", what, c.what, c.got, c.want)
		}
	}
}

func sameRecord(a, b sampling.Drawn) bool {
	return sameLogprob(a.Logprob, b.Logprob) && slices.EqualFunc(a.Top, b.Top, sameLogprob) && slices.Equal(a.Kept, b.Kept) && a.KeptCount == b.KeptCount
}

func sameLogprob(a, b sampling.Logprob) bool {
	bits := math.Float32bits
	return a.ID == b.ID && bits(a.Raw) == bits(b.Raw) && bits(a.Sampled) == bits(b.Sampled)
}

// copied are the records of a result, which is used again.
func copied(records []sampling.Drawn) []sampling.Drawn {
	out := slices.Clone(records)
	for i := range out {
		out[i].Top, out[i].Kept = slices.Clone(out[i].Top), slices.Clone(out[i].Kept)
	}
	return out
}

// checkTold holds what a row's result tells against what was asked.
func checkTold(t *testing.T, info executor.Info, s *sequence, row *executor.Row, r *executor.RowResult) {
	t.Helper()
	tell, prompt, drawn := s.sampling.Tell, 0, 0
	if row.PromptLogprobs && r.Err == nil {
		prompt = max(0, min(int(row.Start+row.Count), s.prompted()-1)-int(row.Start))
	}
	if executor.Tells(&tell) {
		drawn = len(r.Tokens)
	}
	if len(r.Prompt) != prompt || len(r.Drawn) != drawn {
		t.Fatalf("slot %d, %d from %d: %d tokens and %d of the prompt are told of, want %d and %d", r.Slot, row.Count, row.Start, len(r.Drawn), len(r.Prompt), drawn, prompt)
	}
	top := min(int(tell.Top), info.Vocab)
	for i := range r.Prompt {
		record := &r.Prompt[i]
		checkRecord(t, record, s.ids[int(row.Start)+1+i], top)
		if record.Sampled != record.Raw || len(record.Kept) > 0 || record.KeptCount > 0 {
			t.Errorf("of the prompt's id %d is told what no prompt has: %+v", record.ID, *record)
		}
	}
	for i := range r.Drawn {
		record := &r.Drawn[i]
		if tell.Logprobs {
			checkRecord(t, record, r.Tokens[i], top)
		}
		if record.ID != r.Tokens[i] {
			t.Fatalf("token %d is %d, the record is of %d", i, r.Tokens[i], record.ID)
		}
		if s.sampling.Greedy() && record.Sampled != 0 {
			t.Errorf("token %d of a greedy request has log-probability %v", record.ID, record.Sampled)
		}
		checkKept(t, record, tell.Kept)
	}
}

// checkKept checks the ids that a token was drawn from, if they are told.
func checkKept(t *testing.T, d *sampling.Drawn, told bool) {
	t.Helper()
	_, among := slices.BinarySearch(d.Kept, d.ID)
	switch n := int(d.KeptCount); {
	case !told:
		if len(d.Kept) > 0 || n > 0 {
			t.Errorf("token %d: %d ids were kept, which nobody asked", d.ID, n)
		}
	case n > sampling.MaxKept:
		if len(d.Kept) > 0 {
			t.Errorf("token %d: %d of %d kept ids are told, want none", d.ID, len(d.Kept), n)
		}
	case len(d.Kept) != n || !among || !slices.IsSorted(d.Kept):
		t.Errorf("token %d: %d ids were kept: %v", d.ID, n, d.Kept)
	}
}

// checkRecord checks what holds for every record: of id, with the top most likely.
func checkRecord(t *testing.T, d *sampling.Drawn, id int32, top int) {
	t.Helper()
	if d.ID != id || !(d.Raw <= 0) || !(d.Sampled <= 0) || len(d.Top) != top {
		t.Fatalf("%+v, want it of %d with %d others", *d, id, top)
	}
	if !slices.IsSortedFunc(d.Top, func(a, b sampling.Logprob) int {
		return cmp.Or(cmp.Compare(b.Raw, a.Raw), cmp.Compare(a.ID, b.ID))
	}) {
		t.Errorf("the most likely of %d are not in order: %v", id, d.Top)
	}
	if i := slices.IndexFunc(d.Top, func(l sampling.Logprob) bool { return l.ID == id }); i >= 0 {
		if !sameLogprob(d.Top[i], d.Logprob) {
			t.Errorf("%+v is %+v among the most likely", d.Logprob, d.Top[i])
		}
	} else if top > 0 && d.Raw > d.Top[top-1].Raw {
		t.Errorf("%+v is missing among %v", d.Logprob, d.Top)
	}
}
