package server

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// K2: what asks for too much is refused at once and costs nothing.
func TestReportK2Limits(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Slots: 2, Blocks: 64}, engine.Config{}, Options{})
	many := func(n int, one string) string { return "[" + strings.Repeat(one+",", n-1) + one + "]" }
	bias := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":1`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	for _, c := range []struct{ param, value string }{
		{"n", "0"}, {"n", "-1"}, {"n", "129"}, {"n", "1000000"},
		{"stop", many(5, `"a"`)}, {"stop", many(50_000, `"a"`)}, {"stop", `"` + strings.Repeat("a", 1025) + `"`}, {"stop", `""`}, {"stop", `["a",""]`},
		{"logit_bias", `{"-1":1}`}, {"logit_bias", `{"a":1}`}, {"logit_bias", `{"01":1}`}, {"logit_bias", `{"1.5":1}`}, {"logit_bias", bias(301)},
		{"logit_bias", `{"1":101}`}, {"logit_bias", `{"1":-101}`}, {"logit_bias.1", `{"1":1e999}`},
		{"logprobs", "21"}, {"logprobs", "-1"}, {"temperature", "-0.1"}, {"temperature", "2.1"}, {"temperature", "1e999"}, {"top_p", "0"}, {"top_p", "-0.5"}, {"top_p", "1.1"},
		{"presence_penalty", "2.1"}, {"frequency_penalty", "-2.1"}, {"repetition_penalty", "0"}, {"max_tokens", "2147483648"}, {"max_tokens", "99999999999999999999"},
		{"min_tokens", "-1"}, {"top_k", "-2"}, {"min_p", "1.1"}, {"priority", "101"}, {"timeout", "0"}, {"timeout", "1e300"}, {"first_token_timeout", "-1"},
		{"prompt", many(1025, `"a"`)},
	} {
		prompt := `"prompt":"a",`
		if c.param == "prompt" {
			prompt = ""
		}
		name, _, _ := strings.Cut(c.param, ".")
		took, bytes := time.Hour, uint64(math.MaxUint64)
		for try := 0; try < 3 && (took > time.Second || bytes > 50<<20); try++ { // other programs run beside this one
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begun := time.Now()
			r.refused(completionsPath, "{"+prompt+`"`+name+`":`+c.value+"}", 400, c.param, "invalid_value")
			took = min(took, time.Since(begun))
			runtime.ReadMemStats(&after)
			bytes = min(bytes, after.TotalAlloc-before.TotalAlloc)
		}
		if took > time.Second || bytes > 50<<20 {
			t.Errorf("%s %.20s took %v and %d bytes", c.param, c.value, took, bytes)
		}
	}
	r.refused(completionsPath, `{"prompt":"a","logit_bias":{"2048":1}}`, 400, "logit_bias", "invalid_token_id")
	r.refused(chatPath, object{"messages": say("a"), "logprobs": true, "top_logprobs": 21}, 400, "top_logprobs", "invalid_value")
	r.refused(completionsPath, `{"prompt":`+strings.Repeat("[", 101)+strings.Repeat("]", 101)+"}", 400, "", "invalid_json")
	r.refused(completionsPath, `{"prompt":"a","x":`+strings.Repeat(`{"a":`, 60_000)+"1"+strings.Repeat("}", 60_000)+"}", 400, "", "invalid_json")
	r.refused(completionsPath, `{"prompt":"`+strings.Repeat("a", 9<<20)+`"}`, 413, "", "body_too_large")
	r.resting()

	a := r.ask(completionsPath, object{"prompt": count(3), "n": 8, "max_tokens": 4, "ignore_eos": true})
	if len(a.Choices) != 8 || a.Usage.Completion != 32 {
		t.Errorf("n above what runs at a time: %d choices, %+v", len(a.Choices), a.Usage)
	}
}

var errOnPurpose = errors.New("on purpose")

// K2: what fails when a token is drawn ends its own request.
func TestReportK2OneRowFails(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Fail: func(ids []int32) error {
		if ids[0] == 7 {
			return errOnPurpose
		}
		return nil
	}}, engine.Config{}, Options{})
	r.refused(completionsPath, object{"prompt": []int32{7, 8}}, 500, "", "request_failed")
	events := r.events(completionsPath, object{"prompt": []int32{7, 8}})
	if last := events[len(events)-1]; last.Error == nil || value(last.Error.Code) != "request_failed" {
		t.Errorf("streamed: %+v", events)
	}
	if a := r.ask(completionsPath, object{"prompt": []int32{8}, "max_tokens": 2, "ignore_eos": true}); a.Usage.Completion != 2 {
		t.Errorf("%+v", a)
	}
}
