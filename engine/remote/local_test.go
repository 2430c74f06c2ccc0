package remote_test

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text/grammar"
)

// What a client gets is what the engine gives, to the last field but the times that are its
// clock's.
func TestRemoteIsLocal(t *testing.T) {
	r := serve(t, engine.Config{}, gateway.Options{})
	c := connect(t, r.addr(), remote.Options{})
	seed := uint64(7)
	story := "Once upon a time"
	for name, q := range map[string]texts.Request{
		"greedy":  {Request: engine.Request{PromptIDs: prompt(20), MaxNewTokens: 40}},
		"sampled": {Request: engine.Request{PromptIDs: prompt(20), MaxNewTokens: 40, IgnoreEOS: true, Seed: &seed, N: 3, Sampling: sampling.Params{Temperature: 1, TopK: 20, RepetitionPenalty: 1.2, Bias: []sampling.Bias{{ID: 3, Value: -2}}}}},
		"told":    {Request: engine.Request{PromptIDs: prompt(300), MaxNewTokens: 20, Timestamps: true, Sampling: sampling.Params{Tell: sampling.Tell{Logprobs: true, Top: 3, Kept: true, Prompt: true}}}},
		"score":   {Request: engine.Request{PromptIDs: prompt(30), Score: true, Sampling: sampling.Params{Tell: sampling.Tell{Prompt: true}}}},
		"text":    {Request: engine.Request{MaxNewTokens: 40}, Prompt: texts.Prompt{Text: &story}},
		"raw":     {Request: engine.Request{MaxNewTokens: 10}, Prompt: texts.Prompt{Raw: &story}},
		"stop":    {Request: engine.Request{MaxNewTokens: 60}, Prompt: texts.Prompt{Text: &story}, Stop: []string{"girl", "boy"}},
		"grammar": {Request: engine.Request{MaxNewTokens: 200}, Prompt: texts.Prompt{Text: &story}, Grammar: &grammar.Spec{Schema: []byte(`{"type":"object","properties":{"name":{"enum":["Lily","Tim"]},"age":{"type":"integer","maximum":9}},"required":["name","age"]}`)}},
		"kept":    {Request: engine.Request{MaxNewTokens: 60}, Prompt: texts.Prompt{Text: &story}, Stop: []string{"girl"}, KeepStop: true, BadWords: []string{"Lily"}},
	} {
		q.ID = name
		there, err := c.Generate(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []texts.Output
		for _, s := range append([]texts.Stream{there}, there.Children()...) {
			got = append(got, follow(t, s))
		}
		here, err := r.local.Generate(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, s := range append([]texts.Stream{here}, here.Children()...) {
			want := s.Wait(t.Context())
			if len(got[i].Timing.Tokens) != len(want.Timing.Tokens) || got[i].Timing.Ended.IsZero() {
				t.Errorf("%s: %+v", name, got[i].Timing)
			}
			if name == "grammar" && !regexp.MustCompile(`^\{\s*"name": ?"(Lily|Tim)",\s*"age": ?-?\d+\s*\}$`).MatchString(want.Text) {
				t.Errorf("%q does not match", want.Text)
			}
			got[i].Timing, want.Timing = engine.Timing{}, engine.Timing{}
			got[i].Usage.CachedTokens, want.Usage.CachedTokens = 0, 0
			if !reflect.DeepEqual(got[i], want) {
				t.Errorf("%s:\n%+v\nwant\n%+v", name, got[i], want)
			}
		}
	}
	in, err := c.Encode(t.Context(), texts.Prompt{Text: &story})
	if want, _ := r.local.Encode(t.Context(), texts.Prompt{Text: &story}); err != nil || !slices.Equal(in, want) {
		t.Errorf("%v, %v", in, err)
	}
	if out, err := c.Decode(t.Context(), in); err != nil || out != story {
		t.Errorf("%q, %v", out, err)
	}
	if !reflect.DeepEqual(c.Info(), r.engine.Info()) {
		t.Errorf("%+v\nwant\n%+v", c.Info(), r.engine.Info())
	}
}

// follow reads a stream, whose chunks must make up its output.
func follow(t testing.TB, s texts.Stream) texts.Output {
	t.Helper()
	var words string
	var tokens []int32
	for {
		c, err := s.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Offset != len(tokens) {
			t.Errorf("%s: tokens from %d on behind %d", s.ID(), c.Offset, len(tokens))
		}
		words, tokens = words+c.Text, append(tokens, c.TokenIDs...)
		if c.Final == nil {
			continue
		}
		if words != c.Final.Text || !slices.Equal(tokens, c.Final.TokenIDs) {
			t.Errorf("%s: chunks of %q, the output is %q", s.ID(), words, c.Final.Text)
		}
		return *c.Final
	}
}
