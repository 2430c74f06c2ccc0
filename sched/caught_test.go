package sched

import (
	"fmt"
	"strings"
	"testing"
)

// Every planted bug is found by the random workloads: they can fail.
func TestPlantedBugsAreCaught(t *testing.T) {
	for _, b := range []struct {
		name      string
		plant     func() bug
		complaint string
		config    func(*simConfig)
	}{
		{"publish early", publishEarly, "as published, which step", oneGroup},
		{"free what was released", freeReleased, "may touch it", nil},
		{"free a victim's blocks", freeVictims, "may touch it", nil},
		{"take a victim older than the candidate", takeOlder, "which is younger", nil},
		{"compute before the cache is back", computeAtOnce, "wrong cache", func(c *simConfig) { c.host, c.overlap = 40, true }},
		{"release what the window holds", shortWindow, "wrong cache", nil},
		{"forget a cache group", forgetGroup, "row needs table indexes", nil},
		{"forget a copy from the host", forgetCopy, "wrong cache", nil},
		{"copy from the host in another order", swapCopies, "wrong cache", nil},
		{"match all tokens", matchAll, "is granted 0 tokens", oneGroup},
		{"match too far", matchTooFar, "wrong cache", nil},
		{"serve a block across epochs", serveAcrossEpochs, "from cache of", nil},
		{"keep what is to be computed again", keepAll, "behind the commit", nil},
		{"lose a token in flight", loseToken, "want", nil},
		{"repeat a token in flight", repeatToken, "want", oneGroup},
	} {
		t.Run(b.name, func(t *testing.T) {
			for seed := range uint64(1000) {
				if complaint := complaintOf(seed, b.plant(), b.config); complaint != "" {
					if !strings.Contains(complaint, b.complaint) {
						t.Errorf("caught by %q, want %q", complaint, b.complaint)
					}
					return
				}
			}
			t.Error("nobody noticed")
		})
	}
}

// oneGroup is a cache in which a ledger follows every block.
func oneGroup(c *simConfig) { c.windows, c.sizes, c.sectors, c.host, c.reads = nil, nil, 0, 0, 0 }

// complaintOf is what a random workload with a planted bug complains of.
func complaintOf(seed uint64, b bug, change func(*simConfig)) (complaint string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case caught:
			complaint = string(p)
		default:
			panic(p)
		}
	}()
	pick := seeded(seed)
	c := randomConfig(pick)
	c.anyMemory(pick)
	c.depth, c.failing = 2, false
	if change != nil {
		change(&c)
	}
	w := workload{sim: resumedSim(catcher{}, c), pick: pick, next: 1}
	w.bug, w.books = b, b.books(c.cache())
	for range 100 {
		w.operate()
	}
	w.finish()
	return ""
}

// catcher is a failer that stops at the first complaint.
type catcher struct{}

type caught string

func (catcher) Helper()                   {}
func (catcher) Fatal(args ...any)         { panic(caught(fmt.Sprint(args...))) }
func (catcher) Fatalf(f string, a ...any) { panic(caught(fmt.Sprintf(f, a...))) }
func (catcher) Errorf(f string, a ...any) { panic(caught(fmt.Sprintf(f, a...))) }
