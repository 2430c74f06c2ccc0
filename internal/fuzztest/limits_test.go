package fuzztest

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		run  func()
		want string // "": nothing is wrong
	}{
		"little": {func() { runtime.KeepAlive(make([]byte, 1<<20)) }, ""},
		"much":   {func() { runtime.KeepAlive(make([]byte, 16<<20)) }, "KiB of memory, want at most 4096"},
		"much in turn": {func() {
			for range 16 {
				runtime.KeepAlive(make([]byte, 1<<20))
			}
		}, "KiB of memory, want at most 4096"},
		"slow":      {compute, "want at most 200ms"},
		"slow once": {once(compute), ""},
		"any time":  {compute, ""},
		"waits":     {func() { time.Sleep(300 * time.Millisecond) }, ""},
	} {
		l := limits{memory: 4 << 20, slow: time.Minute, hung: 60}
		if name == "any time" {
			l = limitsOf(4<<20, fuzzing())
		}
		if strings.HasPrefix(name, "slow") || name == "waits" {
			l.slow = 200 * time.Millisecond
		}
		err := l.judge(c.run)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// compute takes 300 ms of a processor.
func compute() {
	for began := processorTime(); processorTime()-began < 300*time.Millisecond; {
	}
}

// once runs f the first time.
func once(f func()) func() {
	ran := false
	return func() {
		if !ran {
			ran = true
			f()
		}
	}
}

func TestWatch(t *testing.T) {
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		limits{hung: 1}.watch(nil)
	}()
	if what := <-ended; what == nil || !strings.Contains(what.(string), "no end after 1 s") {
		t.Errorf("%v", what)
	}
}
