package sched

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cbactor/cbactor/internal/storytest"
	"github.com/cbactor/cbactor/sampling"
)

// TestStories plays the scenarios under testdata. A scenario is told in blocks of
// lines, each a thing that happens. It begins with "engine" and finishes with "end",
// which lets everything come to its end and holds it against the plain function.
func TestStories(t *testing.T) {
	storytest.Run(t, func() storytest.Story { return new(story) })
}

// story is a scenario on its way.
type story struct {
	*sim // nil: between two
	said strings.Builder
}

func (s *story) Open() bool { return s.sim != nil }

func (s *story) Play(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.said.Reset()
	for _, line := range append([]string{d.FullCmd()}, strings.Split(d.Input, "\n")...) {
		s.play(t, line)
	}
	return s.said.String()
}

// play lets the thing of one line happen.
func (s *story) play(t *testing.T, line string) {
	t.Helper()
	verb, args, err := datadriven.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	w := words{storytest.Words{T: t, Args: args}}
	switch {
	case verb == "":
		return
	case (verb == "engine") != (s.sim == nil):
		t.Fatalf("%q: a scenario begins with engine and finishes with end", line)
	case verb == "engine":
		s.sim = newSim(t, w.engine())
		s.core.Resume()
		return
	}
	s.t = t
	switch verb {
	case "submit":
		for k := w.subject(); k <= Key(w.Number("through", int(w.subject()))); k++ {
			s.send(w.submit(s, k))
		}
	case "cancel":
		s.drop(w.subject(), w.Text("as", "cancelled"))
	case "pause":
		s.pause()
	case "finish":
		s.core.Finish()
		s.news = true
		s.plan()
	case "shut":
		s.core.Shut()
		s.plan()
	case "empty":
		s.giveUpAll()
	case "resume":
		s.resume()
	case "commit":
		s.commit(policies[w.Args[0].Key], w.Flag("back"))
		s.tellCommit()
	case "answer":
		if s.asked == nil {
			t.Fatal("the books are asked nothing")
		}
		s.reserve(true)
	case "copies":
		s.move(true)
	case "result":
		s.result(true)
	case "step":
		for range max(1, w.Number("times", 1)) {
			s.oneStep(true)
		}
	case "rest": // all arrives that is on the way, and what comes of it
		for s.asked != nil || len(s.running) > 0 {
			s.answers(true)
			if len(s.running) > 0 {
				s.result(true)
			}
		}
	case "until":
		s.until(w)
	case "tables":
		s.tellTables()
	case "end":
		s.drain()
		s.check()
		s.tellEnds()
		s.sim = nil
	default:
		t.Fatalf("%q: nobody knows how to %s", line, verb)
	}
}

// oneStep goes on until a batch is handed over, or no further one can be: first the
// answers arrive that are on the way, then a result, then the answers to what comes
// of it.
func (s *story) oneStep(tell bool) {
	at := s.core.Step()
	s.answers(tell)
	if s.core.Step() == at {
		s.result(tell)
		s.answers(tell)
	}
}

func (s *story) answers(tell bool) {
	for {
		switch {
		case s.asked != nil:
			s.reserve(tell)
		case len(s.moving) > 0:
			s.move(tell)
		default:
			return
		}
	}
}

// reserve lets the books answer. What comes of it is told when it is handed over.
func (s *story) reserve(tell bool) {
	s.reserved()
	if tell && s.core.held == nil {
		s.tellPlan()
	}
	s.plan()
}

// move lets the host ledger answer.
func (s *story) move(tell bool) {
	at := s.core.Step()
	s.answerSwap()
	if tell && s.core.Step() > at {
		s.tellPlan()
	}
}

func (s *story) result(tell bool) {
	if len(s.running) == 0 {
		s.t.Fatal("no step is in flight")
	}
	s.finishStep()
	if tell {
		s.tellTokens()
	}
}

// until lets steps go by: until a sequence has tokens or ends, or to a step.
func (s *story) until(w words) {
	has, step := w.Number("has", 0), w.Number("step", 0)
	for n := 0; ; n++ {
		o := s.all[w.subject()]
		if o != nil && (w.Flag("ends") && o.end != Running || has > 0 && len(o.got) >= has) || step > 0 && s.core.Step() >= uint64(step) {
			break
		}
		if n > 100_000 {
			s.t.Fatal("that never happens")
		}
		s.oneStep(false)
	}
	s.tellState()
}

// words are those of a line.
type words struct{ storytest.Words }

// subject is the key that the line is about, 0: none.
func (w words) subject() Key {
	if n := w.Numbers(); len(n) > 0 {
		return Key(n[0])
	}
	return 0
}

var policies = map[string]KV{"": AsCommitted, "keep": Keep, "recompute": Recompute, "abort": Abort}

// idle is a processor that changes nothing.
type idle struct{}

func (idle) Process([]int32, int, []float32) error { return nil }

// engine is by default that of the field reports; margin and copycost are in hundredths.
func (w words) engine() simConfig {
	policy, ok := Policies[w.Text("policy", "fifo")]
	if !ok {
		w.T.Fatalf("there is no policy %s", w.Text("policy", ""))
	}
	return simConfig{page: w.Number("page", 16), blocks: w.Number("blocks", 8), slots: w.Number("slots", 8), tokens: w.Number("tokens", 64),
		depth: w.Number("depth", 1), margin: float64(w.Number("margin", 0)) / 100, sharing: w.Flag("sharing"), failing: w.Flag("failing"), policy: policy,
		reads: w.Number("reads", 0), host: w.Number("host", 0), copyCost: float64(w.Number("copycost", 0)) / 100, overlap: w.Flag("overlap")}
}

// submit is a request whose prompt is the beginning of a text, or all that another
// request was and brought, and tokens of its own behind it. Several sequences
// sample by their numbers, else they were equal.
func (w words) submit(s *story, k Key) Submit {
	ids := prompt(w.Number("prompt", 0), w.Number("text", int(k)))
	if before := Key(w.Number("after", 0)); before > 0 {
		ids = append(s.all[before].prompt, s.all[before].got...)
	}
	ids = append(ids, prompt(w.Number("own", 0), 1000+int(k))...)
	r := Submit{Key: k, N: int32(w.Number("n", 1)), IDs: ids, MaxNew: int32(w.Number("new", 1)), Priority: int32(w.Number("priority", 0))}
	if r.N > 1 {
		r.Sampling, r.Seed = sampling.Params{Temperature: 1}, uint64(k)
	}
	r.KV, r.Commits, r.Version = policies[w.Text("kv", "")], int32(w.Number("commits", 0)), uint32(w.Number("version", 0))
	r.Private, r.Urgent, r.Sampling.Tell.Prompt = w.Flag("private"), w.Flag("urgent"), w.Flag("told")
	if w.Flag("processor") {
		r.Sampling.Processor, r.Sampling.Temperature = idle{}, 0
	}
	if eos := w.Number("eos", 0); eos > 0 {
		r.EOS = alone(r, 0, s.config.failing, s.config.windows...).want[eos-1:][:1]
	}
	return r
}
