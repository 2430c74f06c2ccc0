package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/bench"
	"github.com/cbactor/cbactor/engine"
)

// A measurement tells how much was shared, and whether the cache was too small.
func TestMeasurementInWords(t *testing.T) {
	m := measurement{Workload: "w", PromptTokens: 200, CachedTokens: 150, HitRate: 0.75, Executor: "cpu generic", Threads: 1}
	if s := m.String(); !strings.HasSuffix(s, "150 of them cached, 75.0 %), cpu generic on 1 thread\n") {
		t.Errorf("told %q", s)
	}
	m.Preemptions = 1
	if s := m.String(); !strings.Contains(s, "; requests were given up 1 time for lack of cache") {
		t.Errorf("told %q", s)
	}
}

// A case is measured as it says.
func TestRequestsOfCases(t *testing.T) {
	got := benchRequests([]bench.Case{{Prompt: []int32{1}, MaxNew: 2, Priority: -3}}, "case")
	want := []engine.Request{{ID: "case-0", PromptIDs: []int32{1}, MaxNewTokens: 2, Priority: -3, IgnoreEOS: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// Requests that the context or the cache would cut short are not measured.
func TestWhatFitsIsMeasured(t *testing.T) {
	request := []engine.Request{{PromptIDs: make([]int32, 10), MaxNewTokens: 7}}
	for _, c := range []struct {
		context, blocks int
		want            string
	}{
		{17, 100, ""}, {16, 100, "the context of 16 tokens"}, {100, 4, ""}, {100, 3, "the cache of 12 tokens"},
	} {
		err := fits(request, engine.Info{MaxContext: c.context, CacheTokens: 4 * c.blocks})
		if (err == nil) != (c.want == "") || err != nil && (status(err) != statusUsage || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	request[0].MaxNewTokens = 1<<63 - 1
	if err := fits(request, engine.Info{MaxContext: 100, CacheTokens: 400}); err == nil {
		t.Error("a sum that overflows fits")
	}
}
