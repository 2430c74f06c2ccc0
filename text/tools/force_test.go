package tools

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/text/grammar"
)

// drawn is a text that a processor leaves, drawn with logits that are random but for
// what ends things.
func drawn(t *testing.T, codec *text.Codec, p *grammar.Processor, end int32, random *rand.Rand) string {
	t.Helper()
	var ids []int32
	for range 400 {
		logits := make([]float32, codec.VocabSize())
		for id := range logits {
			logits[id] = random.Float32()
			if strings.ContainsAny(string(codec.TokenBytes(int32(id))), `"}`) {
				logits[id]++
			}
		}
		logits[end] = 3
		if err := p.Process(ids, 0, logits); err != nil {
			t.Fatal(err)
		}
		best := int32(0)
		for id, l := range logits {
			if l > logits[best] {
				best = int32(id)
			}
		}
		if best == end {
			return codec.Decode(ids)
		}
		ids = append(ids, best)
	}
	t.Fatalf("%q has no end", codec.Decode(ids))
	return ""
}

// A forced answer is a call that the parser reads, with arguments that match.
func TestForcedCalls(t *testing.T) {
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	codec, err := text.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	cache := grammar.NewCache(codec)
	functions := []Function{
		{"weather", json.RawMessage(` {"type":"object","properties":{"place":{"$ref":"#/$defs/p"}},"required":["place"],"$defs":{"p":{"enum":["Köln","Rome"]}}}`)},
		{"say \"it\"", json.RawMessage(`{"$id":"x","type":"object","properties":{"n":{"$ref":"#/$defs/p"}},"required":["n"],"$defs":{"p":{"type":"integer","minimum":1,"maximum":3}}}`)},
		{"stop", json.RawMessage(`{"type":"object","properties":{}}`)},
	}
	random := rand.New(rand.NewPCG(1, 1))
	for _, style := range []Style{Hermes, Llama3} {
		spec, err := Force(style, functions)
		if err != nil {
			t.Fatal(err)
		}
		g, err := cache.Compile(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for range 40 {
			answer := drawn(t, codec, g.NewProcessor([]int32{2}), 2, random)
			words, calls := Parse(style, answer)
			if words != "" || len(calls) != 1 {
				t.Fatalf("%q: %q and %d calls", answer, words, len(calls))
			}
			var arguments struct {
				Place string
				N     int
			}
			if err := json.Unmarshal([]byte(calls[0].Arguments), &arguments); err != nil {
				t.Fatalf("%q: %v", answer, err)
			}
			seen[calls[0].Name] = true
			switch calls[0].Name {
			case "weather":
				if arguments.Place != "Köln" && arguments.Place != "Rome" {
					t.Errorf("%q", answer)
				}
			case "say \"it\"":
				if arguments.N < 1 || arguments.N > 3 {
					t.Errorf("%q", answer)
				}
			case "stop":
			default:
				t.Errorf("%q", answer)
			}
		}
		if len(seen) != len(functions) {
			t.Errorf("only %v were called", seen)
		}
	}
}

func TestFunctionsThatCannotBeForced(t *testing.T) {
	for name, c := range map[string]struct {
		style     Style
		functions []Function
	}{
		"no style":     {None, []Function{{Name: "f"}}},
		"no functions": {Hermes, nil},
		"no name":      {Hermes, []Function{{}}},
		"no schema":    {Llama3, []Function{{"f", json.RawMessage(`[]`)}}},
		"null":         {Llama3, []Function{{"f", json.RawMessage(`null`)}}},
		"no JSON":      {Hermes, []Function{{"f", json.RawMessage(`{"a":`)}}},
	} {
		if spec, err := Force(c.style, c.functions); !errors.Is(err, ErrFunctions) {
			t.Errorf("%s: %s, %v", name, spec.Schema, err)
		}
	}
	for _, parameters := range []json.RawMessage{nil, []byte(" { } ")} {
		spec, err := Force(Hermes, []Function{{"f", parameters}})
		if err != nil || !strings.Contains(string(spec.Schema), `"arguments":{"type":"object"}`) {
			t.Errorf("with parameters %s: %s, %v", parameters, spec.Schema, err)
		}
	}
}
