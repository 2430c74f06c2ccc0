package sim

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/cbactor/cbactor/sched"
)

var costs = Costs{Step: 2e-3, Token: 2e-4, Read: 2e-7, Copy: 1e-4}

func config(blocks, host int) Config {
	return Config{Costs: costs, Sched: sched.Config{Blocks: blocks, Host: host, PageSize: 16, MaxTokens: 256, MaxSlots: 64, Depth: 2, Sharing: true}}
}

func simulate(t *testing.T, c Config, load []Request) *Report {
	t.Helper()
	r, err := Run(c, load)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A small cache gives requests up and a host pool moves them instead of computing
// them again; every request still ends, with the tokens that it gets alone (Run checks them).
func TestPressureShowsInTheFigures(t *testing.T) {
	load := Load(Shape{Count: 300, Seed: 3})
	wide, tight, hosted := simulate(t, config(4096, 0), load), simulate(t, config(64, 0), load), simulate(t, config(64, 200), load)
	if wide.Preemption != 0 || wide.Generated != tight.Generated || wide.Generated != hosted.Generated {
		t.Errorf("with room: %+v", wide)
	}
	if tight.Preemption == 0 || tight.SwappedOut != 0 || tight.Computed <= hosted.Computed {
		t.Errorf("without a host pool: %d preemptions, %d out, %d computed; with one %d computed", tight.Preemption, tight.SwappedOut, tight.Computed, hosted.Computed)
	}
	if hosted.SwappedOut == 0 || hosted.SwappedOut != hosted.SwappedIn {
		t.Errorf("with a host pool: %d blocks out, %d in", hosted.SwappedOut, hosted.SwappedIn)
	}
	if tight.UsedMax > 64 || tight.UsedMean <= 0 || tight.FirstP99 < tight.FirstP50 {
		t.Errorf("figures %+v", tight)
	}
}

// Copies that cost as much as computing are not made; those that run beside the rows
// of others cost no time while these compute.
func TestCopiesHaveTheirPrice(t *testing.T) {
	load := Load(Shape{Count: 300, Seed: 3})
	dear, plain := config(64, 200), config(64, 200)
	dear.Costs.Copy = costs.Token * 16 / 2
	plain.Costs.Copy = costs.Token * 16 / 5
	beside := plain
	beside.Sched.Overlap = true
	a, b, c := simulate(t, dear, load), simulate(t, plain, load), simulate(t, beside, load)
	if a.Preemption == 0 || a.SwappedOut != 0 || b.SwappedOut == 0 {
		t.Errorf("%d preemptions with %d blocks out at the price of computing, %d at less", a.Preemption, a.SwappedOut, b.SwappedOut)
	}
	if c.SwappedIn == 0 || c.Seconds >= b.Seconds {
		t.Errorf("%v s with %d blocks in beside rows, %v s without", c.Seconds, c.SwappedIn, b.Seconds)
	}
}

func TestSharingSavesWhatIsShared(t *testing.T) {
	load := Load(Shape{Count: 100, Seed: 5, Shared: 1})
	with := config(4096, 0)
	without := with
	without.Sched.Sharing = false
	a, b := simulate(t, with, load), simulate(t, without, load)
	if b.Cached != 0 || a.Cached == 0 || a.Computed+a.Cached != b.Computed {
		t.Errorf("%d cached and %d computed, without sharing %d computed", a.Cached, a.Computed, b.Computed)
	}
}

// A short request of high priority passes a long one that came first, with the policy
// for it alone.
func TestPriorityGoesFirst(t *testing.T) {
	load := []Request{{Prompt: make([]int32, 200), MaxNew: 100}, {Prompt: make([]int32, 5), MaxNew: 8, Priority: 1}}
	fifo, byPriority := config(64, 0), config(64, 0)
	fifo.Sched.MaxSlots, byPriority.Sched.MaxSlots = 1, 1
	byPriority.Sched.Policy = sched.Priority
	a, b := simulate(t, fifo, load), simulate(t, byPriority, load)
	if b.FirstMean >= a.FirstMean/2 {
		t.Errorf("first tokens after %v s by priority, %v s in order", b.FirstMean, a.FirstMean)
	}
}

func TestEqualSettingsGiveEqualReports(t *testing.T) {
	shape := Shape{Count: 80, Seed: 9, Rate: 50, Shared: 0.5}
	a, b := simulate(t, config(60, 30), Load(shape)), simulate(t, config(60, 30), Load(shape))
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestALoadThatCannotFitIsRefused(t *testing.T) {
	if _, err := Run(config(2, 0), Load(Shape{Count: 3, Seed: 1})); err == nil {
		t.Error("nothing was said")
	}
}

func TestTheChartIsXML(t *testing.T) {
	var b bytes.Buffer
	if err := simulate(t, config(100, 0), Load(Shape{Count: 50, Seed: 2})).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for dec := xml.NewDecoder(&b); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 3 {
		t.Errorf("%d curves, want 3", lines)
	}
}
