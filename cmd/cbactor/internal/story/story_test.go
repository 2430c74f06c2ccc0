package story

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/internal/trace"
)

var update = flag.Bool("update", false, "write the golden stories")

func open(t *testing.T, name string) *trace.Reader {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	in, err := trace.NewReader(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Every request of a trace has the story that the file beside it tells.
func TestStories(t *testing.T) {
	for file, ids := range map[string]int{"trace": 7, "weights": 7} {
		var b strings.Builder
		_, all, err := Read(open(t, file+".jsonl"), "")
		if err != nil || len(all) != ids {
			t.Fatalf("%s: %d ids, %v", file, len(all), err)
		}
		for _, id := range all {
			stories, _, err := Read(open(t, file+".jsonl"), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range stories {
				b.WriteString(Printable(id) + "\n" + strings.Join(s.Tell(), "\n") + "\n\n")
			}
		}
		path := filepath.Join("testdata", file+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s: told:\n%s\nwant\n%s", file, b.String(), want)
		}
	}
}

// What a step computes past an end that it could not know of is told.
func TestAWastedStepIsTold(t *testing.T) {
	for tokens, want := range map[string]string{
		"0": "ended: stop, 0 tokens generated, 2 further positions computed in vain before the end was known",
		"3": "ended: stop, 3 tokens generated",
		"2": "ended: stop, 2 tokens generated, 1 further position computed in vain before the end was known",
	} {
		in, err := trace.NewReader(strings.NewReader(`{"cbactor_trace":1,"page_size":4}
{"event":"queued","id":"a","prompt":5,"max_new":9}
{"event":"started","id":"a","step":1}
{"event":"chunk","id":"a","step":1,"count":5,"blocks":2,"rows":1}
{"event":"chunk","id":"a","step":2,"start":5,"count":1,"rows":1}
{"event":"chunk","id":"a","step":3,"start":6,"count":1,"rows":1}
{"event":"ended","id":"a","reason":"stop","tokens":` + tokens + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		stories, _, err := Read(in, "a")
		if err != nil {
			t.Fatal(err)
		}
		told := stories[0].Tell()
		if last := told[len(told)-1]; !strings.HasSuffix(last, "  "+want) {
			t.Errorf("told %q, want %q", last, want)
		}
	}
}

// A sleep that takes the cache from a request is told, with the modes around it.
func TestASleepIsTold(t *testing.T) {
	in, err := trace.NewReader(strings.NewReader(`{"cbactor_trace":1,"page_size":4}
{"event":"queued","id":"a","prompt":5,"max_new":9}
{"event":"started","id":"a","step":1}
{"event":"chunk","id":"a","step":1,"count":5,"blocks":2,"rows":1}
{"us":10000,"event":"mode","mode":"sleeping"}
{"us":20000,"event":"preempted","id":"a","step":1,"why":"emptied","how":"recompute"}
{"us":30000,"event":"mode","mode":"running"}
{"us":40000,"event":"back","id":"a","step":2}
`))
	if err != nil {
		t.Fatal(err)
	}
	stories, _, err := Read(in, "a")
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(stories[0].Tell(), "\n")
	for _, want := range []string{"the engine was sleeping for 0.0200 s", "given up behind step 1 as all were, to empty the cache; to be computed again", "back in step 2 with nothing kept"} {
		if !strings.Contains(told, want) {
			t.Errorf("it does not say %q:\n%s", want, told)
		}
	}
}

func TestAnUnknownRequestHasNoStory(t *testing.T) {
	for _, id := range []string{"", "req-4"} {
		if stories, _, err := Read(open(t, "trace.jsonl"), id); err != nil || len(stories) != 0 {
			t.Errorf("%q has %d stories, %v", id, len(stories), err)
		}
	}
}

func TestListSumsUp(t *testing.T) {
	list, err := List(open(t, "trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{ID: "req-1", Prompt: 784, Total: 139_100, InLine: 100, First: 139_000},
		{ID: "req-2", Reason: "failed", Prompt: 784, Generated: 3, Cached: 768, Preemptions: 2, Total: 968_800, InLine: 138_900, GivenUp: 449_900 + 10_000, First: 149_900},
		{ID: "req-3", Prompt: 40, Total: 178_700, InLine: 178_700},
		{ID: "req-3/1", Prompt: 40, Total: 988_790, InLine: 178_690},
		{ID: "req-2", Reason: "cancelled", Prompt: 5, Total: 9_990, InLine: 9_990},
		{ID: "ugly\x1b[2J", Prompt: 5, Total: 9_900},
		{ID: "scored", Reason: "length", Prompt: 33, Total: 100, InLine: 10},
		{ID: "matched", Reason: "stop", Prompt: 5, Generated: 4, Total: 100, InLine: 10, First: 50},
	}
	if len(list) != len(want) {
		t.Fatalf("%d requests, want %d", len(list), len(want))
	}
	for i, r := range list {
		got := *r
		got.queued, got.waiting, got.ended, got.computed = 0, 0, false, 0
		if got != want[i] {
			t.Errorf("%+v\nwant\n%+v", got, want[i])
		}
	}
}

// Every field of a hostile trace may be anything: it is told without a panic.
func FuzzTell(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "trace.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"cbactor_trace":1}` + "\n" + `{"event":"chunk","id":"req-2","count":-5,"start":-9223372036854775808}` + "\n" + `{"event":"ended","id":"req-2","tokens":-1}`)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := trace.NewReader(strings.NewReader(text))
		if err != nil {
			return
		}
		stories, _, err := Read(in, "req-2")
		if err != nil {
			return
		}
		for _, s := range stories {
			s.Tell()
		}
	})
}
