package actors

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
)

// J1 (vllm#36964): four that run and three in line. A hard stop ends each once, as
// failed, when the step that runs is done, also when it comes twice; a soft one lets
// them complete, until a hard one comes behind it.
func TestReportJ1AStopEndsEverything(t *testing.T) {
	for name, stop := range map[string]func(*rig){
		"hard":       func(r *rig) { r.Stop(true, false) },
		"hard twice": func(r *rig) { r.Stop(true, false); r.after(5 * time.Millisecond); r.Stop(true, false) },
		"soft, then hard": func(r *rig) {
			r.Stop(false, false)
			r.after(100 * time.Millisecond)
			r.Stop(true, false)
		},
	} {
		inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 4}, 2, func(r *rig) {
			short := r.add(Submit{ID: "short", IDs: promptOf(20, 0), MaxNew: 6}, 0)[0]
			var all []*record
			for i := range 6 {
				all = append(all, r.add(Submit{ID: fmt.Sprint(i), IDs: promptOf(20, i), MaxNew: 500}, 0)[0])
			}
			r.after(3*stepTime + stepTime/2)
			began := time.Now()
			stop(r)
			<-r.Done()
			if took := time.Since(began); took > 100*time.Millisecond+4*stepTime {
				t.Errorf("%s: stopped after %v", name, took)
			}
			if r.Err() != nil {
				t.Errorf("%s: %v", name, r.Err())
			}
			for _, rec := range all {
				r.ended(name, rec, ReasonFailed, -1)
			}
			if name == "soft, then hard" {
				r.ended("one that is done in time", short, ReasonLength, 6)
			} else {
				r.ended(name, short, ReasonFailed, -1)
			}
		})
	}
}

// J4 (ollama#7805): two slots, 64 requests at a time, fifty rounds, with cancels at
// any moment: each of the 3,200 ends, and the time is that of the tokens.
func TestReportJ4NobodyWaitsForASlotForEver(t *testing.T) {
	inVirtualTime(t, executor.EchoConfig{Blocks: 64, Slots: 2}, 1, func(r *rig) {
		rnd := rand.New(rand.NewPCG(4, 4))
		for round := range 50 {
			var all []*record
			for i := range 64 {
				all = append(all, r.add(Submit{ID: fmt.Sprint(i), IDs: promptOf(1+rnd.IntN(30), i), MaxNew: 1 + rnd.IntN(8)}, 0)[0])
			}
			began := time.Now()
			for range 16 {
				time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
				r.Cancel(fmt.Sprint(rnd.IntN(64)), nil)
			}
			tokens := 0
			for _, rec := range all {
				<-rec.done
				r.ended("a request", rec, rec.ends[0].Reason, -1)
				tokens += len(rec.tokens)
			}
			if most := 2 * time.Duration(tokens/2+64) * stepTime; time.Since(began) > most {
				t.Errorf("round %d took %v for %d tokens, at most %v", round, time.Since(began), tokens, most)
			}
		}
	})
}
