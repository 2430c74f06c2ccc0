package texts

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/text/grammar"
)

const pet = `{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":12},"age":{"type":"integer","minimum":1,"maximum":30},
	"likes":{"type":"array","items":{"enum":["cats","dogs","birds"]},"maxItems":3}},"required":["name","age","likes"],"additionalProperties":false}`

// Sequences of several requests that share a grammar all match it, end where it does, and
// are what they are alone, with many of them given up for each other in between.
func TestGrammar(t *testing.T) {
	l := spawned(t)
	request := Request{Grammar: &grammar.Spec{Schema: []byte(pet)}}
	request.N, request.Seed, request.MaxNewTokens = 4, new(uint64(7)), 600
	request.Sampling = sampling.Params{Temperature: 1, TopK: 50}
	var streams []Stream
	for range 3 {
		s := generate(t, l, request)
		streams = append(streams, append([]Stream{s}, s.Children()...)...)
	}
	first := make([][]int32, request.N)
	for i, s := range streams {
		_, out := told(t, s)
		var p struct {
			Name  string
			Age   int
			Likes []string
		}
		if err := json.Unmarshal([]byte(out.Text), &p); err != nil || out.FinishReason != engine.FinishStop {
			t.Errorf("%q ends with %s: %v", out.Text, out.FinishReason, err)
			continue
		}
		if n := len([]rune(p.Name)); n < 1 || n > 12 || p.Age < 1 || p.Age > 30 || len(p.Likes) > 3 {
			t.Errorf("%+v does not match", p)
		}
		if k := i % request.N; i < request.N {
			first[k] = out.TokenIDs
		} else if !slices.Equal(out.TokenIDs, first[k]) {
			t.Errorf("sequence %d: %v, before %v", k, out.TokenIDs, first[k])
		}
	}
}

// The ends of a request are those of its grammar, the stop ids among them.
func TestGrammarEnds(t *testing.T) {
	_, codec := tiny(t)
	g := &grammar.Spec{Choices: []string{"a"}}
	for name, c := range map[string]struct {
		r    Request
		ends []int32
		want error
	}{
		"the model's":    {Request{Grammar: g}, []int32{3}, errAsked},
		"stop ids":       {Request{Grammar: g, StopIDs: []int32{5}}, []int32{3, 5}, errAsked},
		"stop ids alone": {Request{Grammar: g, StopIDs: []int32{5}, Request: engine.Request{IgnoreEOS: true}}, []int32{5}, errAsked},
		"none":           {Request{Grammar: g, Request: engine.Request{IgnoreEOS: true}}, nil, engine.ErrParams},
		"a bad one":      {Request{Grammar: &grammar.Spec{Regex: "("}}, nil, grammar.ErrSpec},
		"a processor":    {Request{Grammar: g, Request: engine.Request{Sampling: sampling.Params{Processor: new(grammar.Processor)}}}, nil, engine.ErrParams},
	} {
		e := &asked{ends: []int32{3}}
		if _, err := New(e, codec).Generate(t.Context(), c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if c.want != errAsked {
			continue
		}
		logits := make([]float32, codec.VocabSize())
		if err := e.request.Sampling.Processor.Process(codec.EncodeRaw("a"), 0, logits); err != nil {
			t.Fatal(err)
		}
		for id, l := range logits {
			if (l == 0) != slices.Contains(c.ends, int32(id)) {
				t.Errorf("%s: logit %d is %v", name, id, l)
			}
		}
	}
}

func TestToolsReachTheTemplate(t *testing.T) {
	_, codec := tiny(t)
	tools := []json.RawMessage{[]byte(`{}`)}
	messages := []text.Message{{Role: "user", Content: "Hi"}}
	for name, c := range map[string]struct {
		p    Prompt
		want error
	}{
		"a template without tools":  {Prompt{Messages: messages, ChatOptions: text.ChatOptions{Tools: tools}}, text.ErrNoTools},
		"no messages":               {Prompt{Text: new("a"), ChatOptions: text.ChatOptions{Tools: tools}}, engine.ErrParams},
		"no messages to continue":   {Prompt{Text: new("a"), ChatOptions: text.ChatOptions{Continue: true}}, engine.ErrParams},
		"a variable, no UTF-8":      {Prompt{Messages: messages, ChatOptions: text.ChatOptions{Variables: map[string]json.RawMessage{"a": []byte("\"\xff\"")}}}, engine.ErrParams},
		"a variable, set otherwise": {Prompt{Messages: messages, ChatOptions: text.ChatOptions{Variables: map[string]json.RawMessage{"messages": []byte("1")}}}, text.ErrVariables},
		"no UTF-8":                  {Prompt{Messages: messages, ChatOptions: text.ChatOptions{Tools: []json.RawMessage{[]byte("\"\xff\"")}}}, engine.ErrParams},
		"a call that is no UTF-8":   {Prompt{Messages: []text.Message{{Role: "assistant", ToolCalls: []text.ToolCall{{Arguments: "\xff"}}}}}, engine.ErrParams},
	} {
		if _, err := New(&asked{}, codec).Encode(t.Context(), c.p); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
