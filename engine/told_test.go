package engine

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// Log-probabilities come where they are asked for, one for each token in every chunk,
// and stay as they are when steps go on; of the prompt from its second id on.
func TestLogprobsStandBesideTheirTokens(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 10, PageSize: 8, Tokens: 16, Delay: slowly}, Config{})
	prompt := ids(40, 1)
	tell := sampling.Params{Tell: sampling.Tell{Logprobs: true, Top: 3, Kept: true, Prompt: true}}
	told := mustAdd(t, e, Request{PromptIDs: prompt, MaxNewTokens: 20, Sampling: tell})
	mate := mustAdd(t, e, Request{PromptIDs: ids(30, 2), MaxNewTokens: 30}) // one of them is given up
	text := slices.Clone(prompt)
	var first []sampling.Logprob
	for {
		c, err := told.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Logprobs) != len(c.TokenIDs) {
			t.Fatalf("%d log-probabilities of %d tokens", len(c.Logprobs), len(c.TokenIDs))
		}
		for i, d := range c.Logprobs {
			text = append(text, c.TokenIDs[i])
			if d.ID != c.TokenIDs[i] || d.Raw != executor.EchoScore(text, echoVocab, 1) || len(d.Top) != 3 || d.Top[0].ID != d.ID || len(d.Kept) != 1 {
				t.Errorf("token %d at %d: %+v", c.TokenIDs[i], len(text)-1, d)
			}
			if first == nil {
				first = slices.Clone(d.Top)
			}
		}
		if c.Final == nil {
			continue
		}
		out := c.Final
		if len(out.Logprobs) != 20 || !slices.Equal(out.Logprobs[0].Top, first) || len(out.PromptLogprobs) != len(prompt)-1 {
			t.Errorf("%d of tokens, %d of the prompt; the first is %+v, was %+v", len(out.Logprobs), len(out.PromptLogprobs), out.Logprobs[0].Top, first)
		}
		for i, d := range out.PromptLogprobs {
			if d.ID != prompt[i+1] || d.Raw != executor.EchoScore(prompt[:i+2], echoVocab, 1) {
				t.Errorf("prompt id %d: %+v", i+1, d)
			}
		}
		break
	}
	if out := mate.Wait(t.Context()); out.Logprobs != nil || out.PromptLogprobs != nil {
		t.Errorf("the mate is told %v, %v", out.Logprobs, out.PromptLogprobs)
	}
}

// What the configuration says is for requests that ask for nothing themselves.
func TestLogprobsByConfiguration(t *testing.T) {
	yes := true
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{ReturnLogprobs: &yes})
	for _, tell := range []sampling.Tell{{}, {Logprobs: true, Top: 2}, {Prompt: true}} {
		out := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 4, Sampling: sampling.Params{Tell: tell}}).Wait(t.Context())
		want := 4
		if tell.Prompt {
			want = 0
		}
		if len(out.Logprobs) != want || want > 0 && len(out.Logprobs[0].Top) != int(tell.Top) {
			t.Errorf("%+v: %+v", tell, out.Logprobs)
		}
	}
}

// A score is of the prompt and draws nothing.
func TestScoring(t *testing.T) {
	e := spawnTiny(t, Config{MaxBatchTokens: 12, Threads: 1})
	prompt := goldenCases(t)[0].PromptIDs
	out := mustAdd(t, e, Request{PromptIDs: prompt, Score: true, Sampling: sampling.Params{Tell: sampling.Tell{Prompt: true, Top: 1}}}).Wait(t.Context())
	if out.FinishReason != FinishLength || len(out.TokenIDs) != 0 || len(out.PromptLogprobs) != len(prompt)-1 {
		t.Fatalf("%+v", out)
	}
	for i, d := range out.PromptLogprobs {
		if p := math.Exp(float64(d.Raw)); d.ID != prompt[i+1] || !(p > 0 && p <= 1) || d.Top[0].Raw < d.Raw {
			t.Errorf("%d: %+v", i+1, d)
		}
	}
}

// The moments of a request are in order, and there is one for each token where that is
// asked for, also of a request that was given up meanwhile.
func TestTimings(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 10, PageSize: 16, Delay: slowly}, Config{})
	begun := time.Now()
	outs := together(t, e,
		Request{PromptIDs: ids(50, 1), MaxNewTokens: 50, Timestamps: true},
		Request{PromptIDs: ids(50, 2), MaxNewTokens: 50, Timestamps: true},
		Request{PromptIDs: ids(3, 3), MaxNewTokens: 2},
	)
	if outs[1].Preemptions == 0 {
		t.Error("nobody was given up")
	}
	for i, out := range outs {
		moments := append([]time.Time{begun, out.Timing.Created, out.Timing.Started, out.Timing.First}, out.Timing.Tokens...)
		moments = append(moments, out.Timing.Ended, time.Now())
		if !slices.IsSortedFunc(moments, time.Time.Compare) {
			t.Errorf("%d: %+v", i, out.Timing)
		}
		if n := len(out.Timing.Tokens); i < 2 && (n != 50 || !out.Timing.Tokens[0].Equal(out.Timing.First)) || i == 2 && n != 0 {
			t.Errorf("%d: %d moments, %v first", i, n, out.Timing.First)
		}
	}
}

// wordEnd ends a request behind the token that it looks for.
type wordEnd struct{ id int32 }

func (w wordEnd) Match(ids []int32) int {
	if i := slices.Index(ids, w.id); i >= 0 {
		return i + 1
	}
	return -1
}

// Ends that are not the model's: a matcher's, a deadline's, a limit on the first token's.
func TestEndsByMatcherAndTime(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, Slots: 2, Outstanding: 2, Delay: slowly}, Config{})
	want := executor.EchoRef(ids(5, 1), 20, echoVocab, 1)
	stop := mustAdd(t, e, Request{PromptIDs: ids(5, 1), MaxNewTokens: 20, Stop: func() Matcher { return wordEnd{want[6]} }})
	never := mustAdd(t, e, Request{PromptIDs: ids(5, 3), MaxNewTokens: 1000, FirstToken: time.Microsecond})
	if out := stop.Wait(t.Context()); out.FinishReason != FinishStop || !out.Matched || !slices.Equal(out.TokenIDs, want[:7]) || out.Usage.CompletionTokens != 7 {
		t.Errorf("the matched one: %+v", out)
	}
	var late Output
	for limit := 30 * time.Millisecond; len(late.TokenIDs) == 0 && limit < time.Minute; limit *= 4 { // other programs may take all of it
		late = mustAdd(t, e, Request{PromptIDs: ids(5, 2), Deadline: limit}).Wait(t.Context())
		if late.FinishReason != FinishDeadline || late.Matched {
			break
		}
	}
	if late.FinishReason != FinishDeadline || late.Matched || len(late.TokenIDs) == 0 {
		t.Errorf("the late one: %+v", late)
	}
	if out := never.Wait(t.Context()); out.FinishReason != FinishDeadline || len(out.TokenIDs) != 0 {
		t.Errorf("the one without a first token: %+v", out)
	}
}

// A private request neither finds what others have computed nor leaves anything.
func TestPrivateRequests(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64, PageSize: 8}, Config{})
	for i, c := range []struct {
		private bool
		cached  int
	}{{true, 0}, {false, 0}, {true, 0}, {false, 32}} {
		out := mustAdd(t, e, Request{PromptIDs: ids(40, 1), MaxNewTokens: 1, Private: c.private}).Wait(t.Context())
		if out.Usage.CachedTokens != c.cached {
			t.Errorf("request %d found %d tokens, want %d", i, out.Usage.CachedTokens, c.cached)
		}
	}
}

// Ends of the sampling parameters end a request as its EOS does, with MinNew from then
// on, and also where the model's own ids do not.
func TestEndsOfSampling(t *testing.T) {
	e := spawnEcho(t, executor.EchoConfig{Blocks: 64}, Config{})
	want := executor.EchoRef(ids(5, 0), 6, echoVocab, 1)
	for name, r := range map[string]Request{
		"alone":       {},
		"beside EOS":  {EOS: []int32{want[4]}},
		"without EOS": {IgnoreEOS: true},
	} {
		r.PromptIDs, r.MaxNewTokens, r.Sampling.Ends = ids(5, 0), 6, []int32{want[1]}
		if out := mustAdd(t, e, r).Wait(t.Context()); out.FinishReason != FinishStop || out.Matched || !slices.Equal(out.TokenIDs, want[:2]) {
			t.Errorf("%s: %s with %v", name, out.FinishReason, out.TokenIDs)
		}
	}
	r := Request{PromptIDs: ids(5, 0), MaxNewTokens: 6, Sampling: sampling.Params{Ends: []int32{want[1]}, MinNew: 4}}
	if out := mustAdd(t, e, r).Wait(t.Context()); len(out.TokenIDs) < 4 || out.TokenIDs[1] == want[1] {
		t.Errorf("with min_new: %s with %v", out.FinishReason, out.TokenIDs)
	}
}
