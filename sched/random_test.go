package sched

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

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
		policy: Policy(p(0, 2, "policy")), margin: p(0, 2, "margin"), sharing: p(0, 1, "sharing") == 1, failing: p(0, 3, "failing") == 0}
	c.tokens = c.slots + p(0, 20, "tokens")
	return c
}

// workload drives a sim by whatever may happen, in any order that is possible.
type workload struct {
	*sim
	pick pick
	next Key // of the next request
}

// operate does one thing.
func (w *workload) operate() {
	switch op := w.pick(0, 19, "op"); {
	case op < 4:
		w.arrive()
	case op < 17:
		w.deliver()
	case op == 17:
		w.cancel(Key(w.pick(1, int(w.next), "cancel")))
	case op == 18:
		w.pause()
	default:
		w.resume()
	}
}

// deliver lets one of the messages arrive that are on the way.
func (w *workload) deliver() {
	switch {
	case w.asked == nil && len(w.running) == 0:
	case w.asked == nil || len(w.running) > 0 && w.pick(0, 1, "result first") == 1:
		w.finishStep()
	default:
		w.answerReserve()
	}
}

// arrive submits a request that fits the cache when it is alone. Its first tokens
// are often those of others.
func (w *workload) arrive() {
	capacity := w.config.page * w.config.blocks
	common := prompt(w.pick(0, capacity, "common"), w.pick(0, 1, "text"))
	ids := append(common, prompt(w.pick(1, 7, "own"), 2+int(w.next%50))...)
	ids = ids[:min(len(ids), capacity)]
	r := Submit{Key: w.next, IDs: ids, MaxNew: int32(w.pick(1, min(20, capacity+1-len(ids)), "new")), Priority: int32(w.pick(-1, 1, "priority")),
		N: int32(max(1, w.pick(-6, 4, "sequences")))}
	if w.pick(0, 1, "greedy") == 0 {
		r.Sampling, r.Seed = sampling.Params{Temperature: 1}, uint64(w.pick(0, 9, "seed"))
	}
	if w.pick(0, 2, "ends early") == 0 {
		brings := alone(r, 0, false).want
		r.EOS = brings[w.pick(0, len(brings)-1, "end"):][:1]
	}
	w.next += Key(r.N)
	w.send(r)
}

// finish lets everything come to its end.
func (w *workload) finish() {
	w.resume()
	for w.asked != nil || len(w.running) > 0 {
		w.deliver()
	}
	w.check()
}

// Whatever the sizes and the policy, and whatever arrives, is cancelled, forks, fails
// or ends early, with pauses, and messages in any order: every sequence brings the
// tokens that it would bring alone and ends once, and everything is given back.
func TestAnyCompanySameTokens(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := workload{sim: resumedSim(r, randomConfig(drawn(r))), pick: drawn(r), next: 1}
		for range rapid.IntRange(1, 120).Draw(r, "operations") {
			w.operate()
		}
		w.finish()
	})
}

// The same for long: 100,000 operations leave every block and slot free.
func TestHundredThousandOperations(t *testing.T) {
	for seed, c := range []simConfig{
		{page: 4, blocks: 24, slots: 6, tokens: 16, depth: 2, sharing: true, margin: 1},
		{page: 2, blocks: 30, slots: 8, tokens: 12, depth: 2, policy: Priority, failing: true},
		{page: 3, blocks: 18, slots: 5, tokens: 20, depth: 1, sharing: true, policy: PrefillFirst},
		{page: 16, blocks: 8, slots: 8, tokens: 64, depth: 1},
	} {
		w := workload{sim: resumedSim(t, c), pick: seeded(uint64(seed)), next: 1}
		for range 25_000 {
			if waiting, _ := w.core.Load(); waiting > 20 && !w.core.paused {
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
