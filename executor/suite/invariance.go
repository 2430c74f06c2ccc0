package suite

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// mixed are requests of many lengths, every third of them sampled.
func mixed(info executor.Info) []request {
	requests := prompts(info, 1, 3, 4, 5, 8, 13, 31, 32, 33, 2, 20)
	for i := range requests {
		requests[i].n = 3 + 5*i%11
		if i%3 == 2 {
			requests[i].sampling = sampling.Params{Temperature: 1.5, TopP: 0.95}
			requests[i].seed, requests[i].child = uint64(i), int32(i%2)
		}
	}
	return requests
}

// testInvariance runs the same requests in many ways.
func testInvariance(t *testing.T, newExecutor Make) {
	info := open(t, newExecutor, small).Info()
	requests := mixed(info)
	want := generate(t, newExecutor, requests, alone)
	for _, p := range []policy{
		{chunk: 1, together: 1, ahead: 1},
		{chunk: 3, together: 2, ahead: 1},
		{chunk: 4, together: 6, ahead: 1},
		{chunk: 7, together: 6, ahead: 1, shuffle: 1},
		{chunk: 32, together: 6, ahead: 1, shuffle: 2},
		{chunk: 32, together: 1, ahead: 2},
		{chunk: 5, together: 6, ahead: 2, shuffle: 3},
	} {
		if p.ahead <= info.MaxOutstanding {
			same(t, fmt.Sprintf("%+v", p), generate(t, newExecutor, requests, p), want)
		}
	}
	slices.Reverse(requests)
	slices.Reverse(want)
	same(t, "reversed", generate(t, newExecutor, requests, policy{chunk: 6, together: 5, ahead: 1}), want)
}

// testSlotReuse runs the requests twice through two slots and used blocks.
func testSlotReuse(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := mixed(d.info)
	p := policy{chunk: 9, together: 2, ahead: d.info.MaxOutstanding}
	first := tokens(t, d.run(requests, p))
	same(t, "second time", tokens(t, d.run(requests, p)), first)
}

// testSharedPrefix starts a request behind blocks that another one wrote.
func testSharedPrefix(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	d.keep = true // what others take
	r := prompts(d.info, 19)
	first := d.run(r, alone)[0]
	for _, matched := range []int{4, 16} { // whole blocks
		p := d.newPlan()
		s := d.admit(&p.batch, &r[0])
		for g, table := range first.tables {
			from := d.blocks.behind(g, matched)
			shared := table[from : matched/d.info.PageSize]
			p.batch.Tables = append(p.batch.Tables, executor.Table{Slot: s.slot, Group: int32(g), Index: int32(from), Blocks: shared})
			s.tables[g], s.next = append(slices.Repeat([]int32{gone}, from), shared...), matched
			// first's other blocks are free again; its shared ones must not be handed out.
			d.blocks.free[g] = slices.DeleteFunc(d.blocks.free[g], func(b int32) bool { return slices.Contains(shared, b) })
		}
		d.start(p)
		d.finish()
		d.run(nil, policy{chunk: 2, ahead: 1})
		same(t, fmt.Sprintf("%d tokens shared", matched), [][]int32{s.out}, [][]int32{first.out})
	}
}

// testResumed admits a sequence with what it had generated, as after a preemption.
func testResumed(t *testing.T, newExecutor Make) {
	d := newDriver(t, open(t, newExecutor, small))
	requests := mixed(d.info)[:6]
	want := tokens(t, d.run(requests, alone))
	for i, r := range requests {
		const kept = 2
		r.promptLen = len(r.ids)
		r.ids = append(slices.Clone(r.ids), want[i][:kept]...)
		r.n -= kept
		same(t, fmt.Sprintf("request %d resumed", i), tokens(t, d.run([]request{r}, alone)), [][]int32{want[i][kept:]})
	}
}

// testSeeds draws the same prompt under several keys.
func testSeeds(t *testing.T, newExecutor Make) {
	info := open(t, newExecutor, small).Info()
	var requests []request
	for _, k := range []sampling.Key{{Seed: 1}, {Seed: 2}, {Seed: 1, Child: 1}, {Seed: 1}, {Seed: 3}} {
		r := prompts(info, 6)[0]
		r.sampling, r.seed, r.child = sampling.Params{Temperature: 2}, k.Seed, k.Child
		requests = append(requests, r)
	}
	out := generate(t, newExecutor, requests, policy{chunk: 32, together: 5, ahead: 1})
	same(t, "same key", out[3:4], out[:1])
	for _, i := range []int{1, 2, 4} {
		if slices.Equal(out[i], out[0]) {
			t.Errorf("another seed or child gives the same tokens, %v", out[0])
		}
	}
}
