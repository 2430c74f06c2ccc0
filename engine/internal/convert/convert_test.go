package convert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/text/grammar"
	"github.com/cbactor/cbactor/weights"
)

// over sends a message: what comes out is what the other side sees.
func over[M proto.Message](t interface{ Fatal(...any) }, m M) M {
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out := m.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(wire, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t *rapid.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v\nwant %+v", got, want)
	}
}

func ids(t *rapid.T, name string) []int32 {
	list := rapid.SliceOfN(rapid.Int32(), 0, 5).Draw(t, name)
	if len(list) == 0 {
		return nil
	}
	return list
}

func number(t *rapid.T, name string) float32 { return rapid.Float32().Draw(t, name) }

func params(t *rapid.T) sampling.Params {
	p := sampling.Params{
		RepetitionPenalty: number(t, "rep"), PresencePenalty: number(t, "pres"), FrequencyPenalty: number(t, "freq"), NoRepeatNgram: rapid.Int32().Draw(t, "ngram"),
		MinNew: rapid.Int32().Draw(t, "minnew"), Ends: ids(t, "ends"), Allowed: ids(t, "allowed"),
		Temperature: number(t, "temp"), TopK: rapid.Int32().Draw(t, "topk"), TopP: number(t, "topp"), MinP: number(t, "minp"), TypicalP: number(t, "typ"),
		Tell: sampling.Tell{Logprobs: rapid.Bool().Draw(t, "lp"), Top: rapid.Int32().Draw(t, "top"), Kept: rapid.Bool().Draw(t, "kept"), Prompt: rapid.Bool().Draw(t, "prompt")},
	}
	for range rapid.IntRange(0, 3).Draw(t, "biases") {
		p.Bias = append(p.Bias, sampling.Bias{ID: rapid.Int32().Draw(t, "id"), Value: number(t, "bias")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "words") {
		p.BadWords = append(p.BadWords, ids(t, "word"))
	}
	return p
}

func strs(t *rapid.T, name string, most int) (list []string) {
	for range rapid.IntRange(0, most).Draw(t, name) {
		list = append(list, rapid.StringN(1, 8, -1).Draw(t, name))
	}
	return list
}

func request(t *rapid.T) texts.Request {
	r := texts.Request{Request: engine.Request{
		ID: rapid.String().Draw(t, "id"), MaxNewTokens: int(rapid.Int32().Draw(t, "max")), Sampling: params(t), EOS: rapid.SliceOfN(rapid.Int32(), 0, 2).Draw(t, "eos"),
		IgnoreEOS: rapid.Bool().Draw(t, "ignore"), N: int(rapid.Int32().Draw(t, "n")), Priority: int(rapid.Int32().Draw(t, "prio")), Score: rapid.Bool().Draw(t, "score"),
		Deadline: time.Duration(rapid.Int64().Draw(t, "dl")), FirstToken: time.Duration(rapid.Int64().Draw(t, "ft")), Timestamps: rapid.Bool().Draw(t, "ts"),
		Adapter: rapid.String().Draw(t, "adapter"), Salt: rapid.String().Draw(t, "salt"), KV: engine.KVPolicy(rapid.IntRange(0, 3).Draw(t, "kv")),
		MinVersion: rapid.String().Draw(t, "minv"), Private: rapid.Bool().Draw(t, "private"), Wait: rapid.Bool().Draw(t, "wait"),
	}, Stop: strs(t, "stop", 3), KeepStop: rapid.Bool().Draw(t, "keep"), StopIDs: ids(t, "stopids"), BadWords: strs(t, "bad", 2)}
	r.Grammar = rapid.SampledFrom([]*grammar.Spec{nil, {Regex: "a"}, {JSON: true, Before: "b", After: "a"}, {Schema: []byte("{}")}, {Schema: []byte{}}, {Choices: []string{"", "b"}}}).Draw(t, "grammar")
	if rapid.Bool().Draw(t, "no eos") {
		r.EOS = nil
	}
	if rapid.Bool().Draw(t, "seeded") {
		r.Seed = new(rapid.Uint64().Draw(t, "seed"))
	}
	if rapid.Bool().Draw(t, "stale") {
		r.MaxStaleness = new(int(rapid.Uint32().Draw(t, "staleness")))
	}
	switch s := rapid.String().Draw(t, "prompt"); rapid.IntRange(0, 4).Draw(t, "kind") {
	case 1:
		r.PromptIDs = rapid.SliceOfN(rapid.Int32(), 0, 9).Draw(t, "ids")
	case 2:
		r.Prompt.Text = &s
	case 3:
		r.Prompt.Raw = &s
	case 4:
		r.Prompt.Messages = []text.Message{{Role: "user", Content: s}, {}, {ToolCalls: []text.ToolCall{{ID: "1", Name: "f", Arguments: s}, {}}}, {ToolCallID: "1", Name: s, Reasoning: s},
			{Role: "user", Parts: []string{s, ""}}, {Parts: []string{}}}
		r.Prompt.NoGenerationPrompt, r.Prompt.Continue = rapid.Bool().Draw(t, "unopened"), rapid.Bool().Draw(t, "continued")
		if rapid.Bool().Draw(t, "variables") {
			r.Prompt.Variables = map[string]json.RawMessage{"enable_thinking": []byte("false"), s: []byte(s)}
		}
		if rapid.Bool().Draw(t, "tools") {
			r.Prompt.Tools = []json.RawMessage{[]byte("{}"), []byte(s)}
		}
	}
	return r
}

// What one side asks for, the other is asked for.
func TestRequestsCross(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := request(t)
		m, err := Request(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := RequestOf(over(t, m))
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	})
}

// An engine that knows no parts reads the same words.
func TestPartsAreContentToo(t *testing.T) {
	m, err := Encode(texts.Prompt{Messages: []text.Message{{Role: "user", Parts: []string{"one", "two"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.GetMessages().GetMessages()[0].GetContent(); got != "one\ntwo" {
		t.Errorf("content is %q", got)
	}
}

func drawn(t *rapid.T, n int) (list []sampling.Drawn) {
	one := func() sampling.Logprob {
		return sampling.Logprob{ID: rapid.Int32().Draw(t, "id"), Raw: number(t, "raw"), Sampled: number(t, "sampled")}
	}
	for range n {
		d := sampling.Drawn{Logprob: one(), Kept: ids(t, "kept"), KeptCount: rapid.Int32().Draw(t, "count")}
		for range rapid.IntRange(0, 3).Draw(t, "tops") {
			d.Top = append(d.Top, one())
		}
		list = append(list, d)
	}
	return list
}

func spans(t *rapid.T) (list []engine.VersionSpan) {
	at := rapid.IntRange(0, 5).Draw(t, "from")
	for range rapid.IntRange(0, 3).Draw(t, "spans") {
		s := engine.VersionSpan{Version: rapid.String().Draw(t, "version"), Start: at, End: at + rapid.IntRange(1, 9).Draw(t, "long")}
		list, at = append(list, s), s.End
	}
	return list
}

// What one side tells, the other is told: news, and ends without what news have told.
func TestNewsCross(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 4).Draw(t, "n")
		want := texts.Chunk{Text: rapid.String().Draw(t, "text")}
		want.Offset, want.WeightVersions, want.KVVersions = rapid.IntRange(0, 1<<30).Draw(t, "offset"), spans(t), spans(t)
		for range n {
			want.TokenIDs = append(want.TokenIDs, rapid.Int32().Draw(t, "token"))
		}
		if rapid.Bool().Draw(t, "drawn") {
			want.Logprobs = drawn(t, n)
		}
		if rapid.Bool().Draw(t, "final") {
			want.Final = final(t, want.Offset+n)
		}
		got, err := NewsOf(over(t, News(want)))
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	})
}

func final(t *rapid.T, n int) *texts.Output {
	at := func(name string) time.Time { return moment(rapid.Int64().Draw(t, name)) }
	out := &texts.Output{Stopped: rapid.String().Draw(t, "stopped")}
	out.FinishReason = rapid.SampledFrom([]engine.FinishReason{engine.FinishStop, engine.FinishStale, engine.FinishLength}).Draw(t, "reason")
	out.Matched, out.Preemptions = rapid.Bool().Draw(t, "matched"), rapid.IntRange(0, 9).Draw(t, "preempted")
	out.Usage = engine.Usage{PromptTokens: rapid.IntRange(0, 9).Draw(t, "p"), CachedTokens: rapid.IntRange(0, 9).Draw(t, "c"), CompletionTokens: n}
	out.WeightVersions, out.KVVersions = spans(t), spans(t)
	out.Timing = engine.Timing{Created: at("created"), Started: at("started"), First: at("first"), Ended: at("ended")}
	for range min(n, rapid.IntRange(0, 2).Draw(t, "times")) {
		out.Timing.Tokens = append(out.Timing.Tokens, at("token"))
	}
	return out
}

// A manifest crosses in parts, none larger than it may be.
func TestManifestsCross(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := weights.Manifest{Partial: rapid.Bool().Draw(t, "partial"), Digest: weights.Sum(weights.SHA256, []byte("a"))}
		for range rapid.IntRange(0, 9).Draw(t, "tensors") {
			want.Tensors = append(want.Tensors, weights.Entry{Name: rapid.String().Draw(t, "name"), DType: "BF16",
				Shape: rapid.SliceOfN(rapid.IntRange(0, 1<<40), 0, 4).Draw(t, "shape"), Digest: weights.Sum(weights.XXH3_64, []byte("b"))})
		}
		const size = 200
		parts, err := Manifests(want, size)
		if err != nil {
			t.Fatal(err)
		}
		var got weights.Manifest
		for i, p := range parts {
			if n := proto.Size(p); n > size+120 && len(p.Tensors) > 1 {
				t.Fatalf("a part of %d bytes", n)
			}
			part, err := ManifestOf(over(t, p))
			if err != nil || p.More != (i < len(parts)-1) {
				t.Fatal(err, p.More)
			}
			part.Tensors = append(got.Tensors, part.Tensors...)
			got = part
		}
		same(t, got, want)
	})
}

// Every error of the engine's is, on the other side, the same to errors.Is, with its words.
func TestErrorsCross(t *testing.T) {
	for _, class := range []error{engine.ErrTooLong, engine.ErrNeverFits, engine.ErrVocab, engine.ErrDuplicateID, engine.ErrRejected, engine.ErrStale, engine.ErrQueueFull,
		engine.ErrHoldLost, engine.ErrAsleep, engine.ErrCommitted, engine.ErrNotRunning, engine.ErrCrashed, engine.ErrStuck, engine.ErrNoWeights, engine.ErrAdapterName, engine.ErrAdapters,
		weights.ErrMissing, weights.ErrVersion, weights.ErrBusy, weights.ErrClosed, weights.ErrDigest, weights.ErrMemory, weights.ErrNotFinite, weights.ErrBroken,
		text.ErrNoTokenizer, text.ErrStops, text.ErrTemplate, text.ErrUnsupported, text.ErrNoTools, text.ErrTools, text.ErrVariables, text.ErrContinue, text.ErrControlToken, text.ErrPattern, text.ErrTooLong,
		grammar.ErrSpec, grammar.ErrUnsupported, grammar.ErrTooLarge, grammar.ErrNothing, grammar.ErrTooAmbiguous, grammar.ErrComplete, ErrNotRemote, ErrProtocol, ErrLimit, context.Canceled, context.DeadlineExceeded} {
		err := fmt.Errorf("a request: %w: because", class)
		got := ErrorOf(over(t, Error(err)))
		if !errors.Is(got, class) || got.Error() != err.Error() {
			t.Errorf("%v has become %v", err, got)
		}
	}
	if got := ErrorOf(Error(nil)); got != nil {
		t.Errorf("nothing has become %v", got)
	}
	if got := ErrorOf(Error(errors.New("any"))); got.Error() != "any" || errors.Unwrap(got) != nil {
		t.Errorf("any other: %v", got)
	}
	long := ErrorOf(over(t, Error(errors.New("\xff"+strings.Repeat("ä", maxErrorText)))))
	if n := len(long.Error()); n > maxErrorText || n < maxErrorText-3 {
		t.Errorf("%d bytes of words", n)
	}
}

// What the engine is, and can do, crosses.
func TestStatusCrosses(t *testing.T) {
	want := engine.Status{Mode: "paused", Holders: 3, Asleep: engine.KV | engine.Weights}
	if got, err := StatusOf(over(t, Status(want))); err != nil || got != want {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	pause := engine.PauseOptions{Mode: engine.PauseAbort, Refuse: true, Lease: time.Minute}
	if got, err := PauseOf(over(t, Pause(pause))); err != nil || got != pause {
		t.Errorf("%+v (%v), want %+v", got, err, pause)
	}
	list := []engine.Adapter{{Name: "a", Rank: 8, Modules: []string{"x", "y"}}}
	if got := AdaptersOf(Adapters(list)); !reflect.DeepEqual(got, list) {
		t.Errorf("%+v, want %+v", got, list)
	}
	info := engine.Info{Executor: "cpu", EOS: []int32{2}, Settings: []engine.Setting{{Name: "seed", Value: uint64(1<<63 + 1), From: "default"}}}
	text, err := Info(info)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := InfoOf(text); err != nil || !reflect.DeepEqual(got, info) {
		t.Errorf("%+v (%v), want %+v", got, err, info)
	}
	gaps := []weights.Gap{{Name: "a", Offset: 1, Bytes: 2}, {Name: "b"}}
	m := Gaps(gaps, 1)
	if got, err := GapsOf(m); err != nil || !m.More || !reflect.DeepEqual(got, gaps[:1]) {
		t.Errorf("%+v (%v)", got, err)
	}
}

// Numbers of the two policies are the same.
func TestPoliciesAgree(t *testing.T) {
	for p, want := range map[engine.KVPolicy]messages.KV{engine.KVAsUpdate: messages.KV_KV_AS_UPDATE, engine.KVKeep: messages.KV_KV_KEEP,
		engine.KVRecompute: messages.KV_KV_RECOMPUTE, engine.KVAbort: messages.KV_KV_ABORT} {
		if got := KV(p); got != want {
			t.Errorf("%v is %v, want %v", p, got, want)
		}
	}
}
