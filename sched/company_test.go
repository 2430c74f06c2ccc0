package sched

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cbactor/cbactor/blockmgr"
)

// Whatever the sizes, the arrivals, the cancels and the pauses: every request gets
// the tokens it would get alone, and everything is given back.
func TestAnyCompanySameTokens(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := simConfig{page: rapid.IntRange(1, 9).Draw(r, "page"), slots: rapid.IntRange(1, 6).Draw(r, "slots"), depth: rapid.IntRange(1, 2).Draw(r, "depth")}
		c.tokens = c.slots + rapid.IntRange(0, 20).Draw(r, "tokens")
		c.blocks = rapid.IntRange(1, 20).Draw(r, "blocks")
		c.policy = Policy(rapid.IntRange(0, 2).Draw(r, "policy"))
		c.sharing = rapid.Bool().Draw(r, "sharing")
		c.host = rapid.SampledFrom([]int{0, 0, 2, 5, 40}).Draw(r, "host")
		c.reads = rapid.SampledFrom([]int{0, 0, 1, 40}).Draw(r, "reads")
		c.margin = rapid.IntRange(0, 2).Draw(r, "margin")
		drawGroups(r, &c)
		s := newSim(r, c)
		s.core.Resume()
		capacity := c.longest()
		n := rapid.IntRange(1, 12).Draw(r, "requests")
		for k := Key(1); int(k) <= n; {
			switch op := rapid.IntRange(0, 9).Draw(r, "op"); {
			case op < 4:
				p := rapid.IntRange(1, capacity).Draw(r, "prompt")
				m := rapid.IntRange(1, min(20, capacity+1-p)).Draw(r, "new")
				s.submitAs(int32(rapid.IntRange(-1, 1).Draw(r, "priority")), k, prompt(p, rapid.IntRange(0, 2).Draw(r, "beginning")), m)
				k++
			case op == 4:
				forks := rapid.IntRange(2, 4).Draw(r, "forks")
				p := rapid.IntRange(1, capacity).Draw(r, "prompt")
				s.submitN(forks, k, prompt(p, rapid.IntRange(0, 2).Draw(r, "beginning")), rapid.IntRange(1, min(20, capacity+1-p)).Draw(r, "new"))
				k += Key(forks)
			case op < 8:
				s.step()
			case op == 8:
				s.cancel(Key(rapid.IntRange(1, n).Draw(r, "cancel")))
			default:
				s.core.Pause()
				s.step()
				s.core.Resume()
				s.plan()
			}
		}
		s.drain()
		s.check()
	})
}

// drawGroups makes a cache of one full group, one sliding, or both, each with blocks
// of its own or in common sectors. Every sliding group holds one table at least.
func drawGroups(r *rapid.T, c *simConfig) {
	window := rapid.Custom(func(r *rapid.T) int { return rapid.IntRange(1, 3*c.page).Draw(r, "window") })
	switch rapid.IntRange(0, 3).Draw(r, "kinds") {
	case 0:
		return
	case 1:
		c.windows = []int{window.Draw(r, "sliding")}
	case 2:
		c.windows = []int{0, window.Draw(r, "sliding")}
	case 3:
		c.windows = []int{window.Draw(r, "sliding"), 0}
	}
	if rapid.Bool().Draw(r, "shared memory") {
		for range c.windows {
			c.sizes = append(c.sizes, rapid.IntRange(1, 4).Draw(r, "blocks of a sector"))
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
			n = rapid.IntRange(1, blockmgr.TableBound(w, c.tokens, c.page)+3).Draw(r, "blocks of the sliding group")
		}
		c.sizes = append(c.sizes, n)
	}
}
