package server

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

type sleepTold struct {
	Status   string
	Asleep   []string
	Note     string
	Sleeping bool `json:"is_sleeping"`
}

func (r *rig) isSleeping(want bool, asleep ...string) {
	r.t.Helper()
	var told sleepTold
	if r.get("/is_sleeping", &told); told.Sleeping != want || !slices.Equal(told.Asleep, asleep) {
		r.t.Errorf("%+v, want %v with %v", told, want, asleep)
	}
}

// Sleep refuses what is new, gives memory back, and after it all is as before.
func TestSleep(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	before := r.ask(completionsPath, long(5))
	for _, c := range []struct {
		query string
		note  bool
		want  []string
	}{{"", false, []string{"kv_cache", "weights"}}, {"?level=2", true, []string{"kv_cache", "weights"}}, {"?tags=weights", false, []string{"weights"}}, {"?level=0", false, nil}} {
		for range 2 {
			var told sleepTold
			if r.control("/sleep"+c.query, nil, &told); told.Status != "sleeping" || !slices.Equal(told.Asleep, c.want) || (told.Note != "") != c.note {
				t.Errorf("%s: %+v", c.query, told)
			}
		}
		r.isSleeping(true, c.want...)
		r.refused(completionsPath, long(1), 503, "", "engine_asleep")
		for range 2 {
			var told sleepTold
			if r.control("/wake_up", nil, &told); told.Status != "awake" || len(told.Asleep) > 0 || told.Note != "" {
				t.Errorf("%s: %+v", c.query, told)
			}
		}
		r.isSleeping(false)
		if after := r.ask(completionsPath, long(5)); !slices.Equal(after.Choices[0].IDs, before.Choices[0].IDs) {
			t.Errorf("%s: %v, before %v", c.query, after.Choices[0].IDs, before.Choices[0].IDs)
		}
	}
	r.refused("/sleep?level=3", "", 400, "level", "invalid_value")
	r.refused("/sleep?level=1&tags=weights", "", 400, "tags", "invalid_value")
	r.refused("/sleep?tags=all", "", 400, "tags", "invalid_value")
	r.refused("/sleep?mode=x", "", 400, "mode", "invalid_value")
	r.refused("/wake_up?tags=x", "", 400, "tags", "invalid_value")
}

// What runs goes on after a sleep that keeps it, and its pause is nobody else's. Memory is taken
// again once all of it was asked for.
func TestSleepKeeps(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	want := r.ask(completionsPath, long(600))
	out := r.background(completionsPath, long(600))
	r.until("it runs", func() bool { return r.engine.Metrics().Running == 1 })
	var told sleepTold
	r.control("/sleep?mode=keep", nil, &told)
	r.pause("?mode=keep")
	if p := r.resume(""); p.Status != "paused" || p.Holds != 1 {
		t.Errorf("%+v", p)
	}
	for range 2 {
		if r.control("/wake_up?tags=weights", nil, &told); told.Status != "sleeping" || len(told.Asleep) != 2 || told.Note == "" {
			t.Errorf("%+v", told)
		}
	}
	r.isSleeping(true, "kv_cache", "weights")
	if r.control("/wake_up?tags=kv_cache&tags=scheduling", nil, &told); told.Status != "awake" {
		t.Errorf("%+v", told)
	}
	if a := <-out; len(a.Choices) != 1 || fmt.Sprint(a.Choices[0].IDs) != fmt.Sprint(want.Choices[0].IDs) {
		t.Errorf("%+v, want %+v", a, want)
	}
}

// sleepless is an engine whose memory cannot be given back.
type sleepless struct{ engine.API }

func (sleepless) Sleep(context.Context, engine.Part) error { return executor.ErrUnsupported }

// An engine that cannot sleep is not left paused.
func TestSleepUnsupported(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	r.server.models[0].Engine = sleepless{r.engine}
	r.refused("/sleep", "", 501, "", "not_supported")
	r.isSleeping(false)
	r.ask(completionsPath, long(1))
}
