package sched

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/cbactor/cbactor/blockmgr"
	"github.com/cbactor/cbactor/sampling"
)

// pick is a number from lo to hi: rapid's, which it can make smaller when a test
// fails, or a plain generator's.
type pick func(lo, hi int, what string) int

func drawn(r *rapid.T) pick {
	return func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(r, what) }
}

func seeded(seed uint64) pick {
	r := rand.New(rand.NewPCG(seed, 0))
	return func(lo, hi int, _ string) int { return lo + r.IntN(hi-lo+1) }
}

// randomConfig is any engine, down to one block of one token.
func randomConfig(p pick) simConfig {
	c := simConfig{page: p(1, 9, "page"), slots: p(1, 6, "slots"), depth: p(1, 2, "depth"), blocks: p(1, 20, "blocks"),
		policy: Policy(p(0, 2, "policy")), margin: float64(p(0, 2, "margin")) / 10, sharing: p(0, 1, "sharing") == 1, failing: p(0, 3, "failing") == 0}
	c.tokens = c.slots + p(0, 20, "tokens")
	return c
}

// anyMemory adds a host pool, a bound of reads, and cache groups: one full, one
// sliding, or both, each with blocks of its own or in common sectors. Every sliding
// group holds one table at least.
func (c *simConfig) anyMemory(p pick) {
	c.host = []int{0, 0, 2, 5, 40}[p(0, 4, "host")]
	c.copyCost = []float64{0, 0.1, 0.8, 1}[p(0, 3, "copy cost")]
	c.overlap = p(0, 1, "overlap") == 1
	c.reads = []int{0, 0, 1, 40}[p(0, 3, "reads")]
	switch p(0, 3, "kinds") {
	case 0:
		return
	case 1:
		c.windows = []int{p(1, 3*c.page, "window")}
	case 2:
		c.windows = []int{0, p(1, 3*c.page, "window")}
	case 3:
		c.windows = []int{p(1, 3*c.page, "window"), 0}
	}
	if p(0, 1, "shared memory") == 1 {
		for range c.windows {
			c.sizes = append(c.sizes, p(1, 4, "blocks of a sector"))
		}
		c.sectors = c.blocks
		for c.longest() < 2 {
			c.sectors++
		}
		return
	}
	for _, w := range c.windows {
		n := c.blocks
		if w > 0 {
			n = p(1, blockmgr.TableBound(w, c.tokens, c.page)+3, "blocks of the sliding group")
		}
		c.sizes = append(c.sizes, n)
	}
}

// workload drives a sim by whatever may happen, in any order that is possible.
type workload struct {
	*sim
	pick pick
	next Key // of the next request
}

// operate does one thing.
func (w *workload) operate() {
	switch op := w.pick(0, 21, "op"); {
	case op < 4:
		w.arrive()
	case op < 17:
		w.deliver()
	case op == 17:
		w.cancel(Key(w.pick(1, int(w.next), "cancel")))
	case op == 18:
		w.news = true
		[]func(){w.core.Pause, w.core.Finish, w.core.Shut, w.core.Pause}[w.pick(0, 3, "gate")]()
		w.plan()
	case op == 19:
		w.giveUpAll()
	case op == 20 && w.pick(0, 3, "new weights") == 0:
		w.commit(KV(w.pick(0, 3, "policy")), w.pick(0, 3, "back") == 0)
	default:
		w.resume()
	}
}

// deliver lets one of the messages arrive that are on the way.
func (w *workload) deliver() {
	var ways []func()
	if w.asked != nil {
		ways = append(ways, w.answerReserve)
	}
	if len(w.running) > 0 {
		ways = append(ways, w.finishStep)
	}
	if len(w.moving) > 0 {
		ways = append(ways, w.answerSwap)
	}
	if len(ways) > 0 {
		ways[w.pick(0, len(ways)-1, "message")]()
	}
}

// arrive submits a request that fits the cache when it is alone. Its first tokens
// are often those of others.
func (w *workload) arrive() {
	capacity := min(w.config.longest(), 20*w.config.page+w.config.tokens)
	common := prompt(w.pick(0, capacity, "common"), w.pick(0, 1, "text"))
	ids := append(common, prompt(w.pick(1, 7, "own"), 2+int(w.next%50))...)
	ids = ids[:min(len(ids), capacity)]
	r := Submit{Key: w.next, IDs: ids, MaxNew: int32(w.pick(1, min(20, capacity+1-len(ids)), "new")), Priority: int32(w.pick(-1, 1, "priority")),
		N: int32(max(1, w.pick(-6, 4, "sequences")))}
	if w.pick(0, 1, "greedy") == 0 {
		r.Sampling, r.Seed = sampling.Params{Temperature: 1}, uint64(w.pick(0, 9, "seed"))
	}
	r.Urgent = w.pick(0, 9, "urgent") == 0 && r.N == 1
	r.Private, r.Sampling.Tell.Prompt = w.pick(0, 7, "private") == 0, w.pick(0, 4, "told") == 0
	switch w.pick(0, 15, "kind") {
	case 0: // only scored
		r.N, r.MaxNew = 1, 0
	case 1:
		r.Sampling.Temperature, r.Sampling.Processor = 0, idle{}
	}
	if r.MaxNew > 0 && w.pick(0, 2, "ends early") == 0 {
		brings := alone(r, 0, false, w.config.windows...).want
		r.EOS = brings[w.pick(0, len(brings)-1, "end"):][:1]
	}
	r.KV, r.Commits = KV(max(0, w.pick(-4, 3, "policy of its own"))), int32(max(0, w.pick(-5, 2, "commits")))
	if w.pick(0, 9, "version") == 0 {
		r.Version = uint32(w.pick(0, int(w.serving.Version), "at least"))
	}
	w.next += Key(r.N)
	w.send(r)
}

// finish lets everything come to its end.
func (w *workload) finish() {
	w.resume()
	for w.asked != nil || len(w.moving) > 0 || len(w.running) > 0 {
		w.deliver()
	}
	w.check()
}

// Whatever the sizes and the policy, and whatever arrives, is cancelled, forks, fails
// or ends early, with pauses, and messages in any order: every sequence brings the
// tokens that it would bring alone and ends once, and everything is given back.
func TestAnyCompanySameTokens(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := randomConfig(drawn(r))
		c.anyMemory(drawn(r))
		w := workload{sim: resumedSim(r, c), pick: drawn(r), next: 1}
		for range rapid.IntRange(1, 120).Draw(r, "operations") {
			w.operate()
		}
		w.finish()
	})
}

// The same for long: 100,000 operations leave every block and slot free.
func TestHundredThousandOperations(t *testing.T) {
	for seed, c := range []simConfig{
		{page: 4, blocks: 24, slots: 6, tokens: 16, depth: 2, sharing: true, margin: 0.05},
		{page: 2, blocks: 30, slots: 8, tokens: 12, depth: 2, policy: Priority, failing: true},
		{page: 3, blocks: 18, slots: 5, tokens: 20, depth: 1, sharing: true, policy: PrefillFirst},
		{page: 16, blocks: 8, slots: 8, tokens: 64, depth: 1},
		{page: 3, blocks: 20, slots: 6, tokens: 16, depth: 2, sharing: true, host: 12, copyCost: 0.4},
		{page: 3, blocks: 20, slots: 6, tokens: 16, depth: 2, sharing: true, host: 12, overlap: true},
		{page: 4, slots: 6, tokens: 16, depth: 2, sharing: true, host: 8, windows: []int{0, 9}, sizes: []int{2, 3}, sectors: 16},
		{page: 4, slots: 6, tokens: 8, depth: 1, sharing: true, host: 20, overlap: true, copyCost: 0.2, windows: []int{0, 9}, sizes: []int{2, 3}, sectors: 16},
	} {
		w := workload{sim: resumedSim(t, c), pick: seeded(uint64(seed)), next: 1}
		for range 17_000 {
			if waiting, _ := w.core.Load(); waiting > 20 && w.core.gate == running {
				w.deliver()
				continue
			}
			w.operate()
		}
		w.finish()
		if len(w.order) < 1000 {
			t.Errorf("only %d sequences came to their end", len(w.order))
		}
	}
}
