package convert

import (
	"errors"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/weights"
)

type ban struct{}

func (ban) Process([]int32, int, []float32) error { return nil }

// What cannot cross is refused before it is sent.
func TestRequestsThatCannotCross(t *testing.T) {
	bad := "\xff"
	for name, c := range map[string]struct {
		r    texts.Request
		want error
	}{
		"processor":   {texts.Request{Request: engine.Request{Sampling: sampling.Params{Processor: ban{}}}}, ErrNotRemote},
		"matcher":     {texts.Request{Request: engine.Request{Stop: func() engine.Matcher { return nil }}}, ErrNotRemote},
		"max":         {texts.Request{Request: engine.Request{MaxNewTokens: math.MaxInt32 + 1}}, engine.ErrParams},
		"priority":    {texts.Request{Request: engine.Request{Priority: math.MinInt}}, engine.ErrParams},
		"staleness":   {texts.Request{Request: engine.Request{MaxStaleness: new(-1)}}, engine.ErrParams},
		"id":          {texts.Request{Request: engine.Request{ID: bad}}, engine.ErrParams},
		"salt":        {texts.Request{Request: engine.Request{Salt: bad}}, engine.ErrParams},
		"stop":        {texts.Request{Stop: []string{bad}}, text.ErrStops},
		"bad word":    {texts.Request{BadWords: []string{bad}}, engine.ErrParams},
		"prompt":      {texts.Request{Prompt: texts.Prompt{Text: &bad}}, engine.ErrParams},
		"two prompts": {texts.Request{Prompt: texts.Prompt{IDs: []int32{1}}, Request: engine.Request{PromptIDs: []int32{1}}}, engine.ErrParams},
	} {
		if m, err := Request(c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v (%v), want %v", name, m, err, c.want)
		}
	}
	if _, err := Manifests(weights.Manifest{Tensors: []weights.Entry{{Name: bad}}}, 100); !errors.Is(err, engine.ErrParams) {
		t.Errorf("the name of a tensor: %v", err)
	}
	if _, err := Encode(texts.Prompt{}); !errors.Is(err, engine.ErrParams) {
		t.Errorf("nothing to encode: %v", err)
	}
}

// Messages that nobody would send are errors.
func TestHostileMessages(t *testing.T) {
	span := func(list ...*messages.Span) func() error {
		return func() error { _, err := SpansOf(list); return err }
	}
	news := func(m *messages.News) func() error {
		return func() error { _, err := NewsOf(m); return err }
	}
	shape := func(list ...int64) func() error {
		return func() error { _, err := ShapeOf(list); return err }
	}
	for name, read := range map[string]func() error{
		"span backwards":   span(&messages.Span{Start: 5, End: 4}),
		"span empty":       span(&messages.Span{Start: 5, End: 5}),
		"spans overlap":    span(&messages.Span{Start: 0, End: 4}, &messages.Span{Start: 3, End: 6}),
		"span far":         span(&messages.Span{Start: 0, End: math.MaxUint32}),
		"offset far":       news(&messages.News{Offset: math.MaxUint32, Ids: []int32{1}}),
		"drawn too few":    news(&messages.News{Ids: []int32{1, 2}, Drawn: []*messages.Drawn{{}}}),
		"drawn of nothing": news(&messages.News{Drawn: []*messages.Drawn{{}}}),
		"top":              news(&messages.News{Ids: []int32{1}, Drawn: []*messages.Drawn{{Top: make([]*messages.Drawn, sampling.MaxTop+1)}}}),
		"kept":             news(&messages.News{Ids: []int32{1}, Drawn: []*messages.Drawn{{Kept: make([]int32, sampling.MaxKept+1)}}}),
		"reason":           news(&messages.News{End: &messages.End{Reason: "over"}}),
		"moments":          news(&messages.News{End: &messages.End{Reason: "stop", TokenNs: []int64{1}}}),
		"counts":           news(&messages.News{End: &messages.End{Reason: "stop", Preemptions: math.MaxUint32}}),
		"spans of the end": news(&messages.News{End: &messages.End{Reason: "stop", KvVersions: []*messages.Span{{}}}}),
		"shape negative":   shape(4, -1),
		"shape deep":       shape(1, 1, 1, 1, 1, 1, 1, 1, 1),
		"offset":           func() error { _, err := OffsetOf(math.MaxUint64); return err },
		"kv":               func() error { _, err := RequestOf(&messages.Request{Kv: 9}); return err },
		"bad word":         func() error { _, err := RequestOf(&messages.Request{BadWords: []string{""}}); return err },
		"stops":            func() error { _, err := RequestOf(&messages.Request{Stop: make([]string, 1000)}); return err },
		"part":             func() error { _, err := PartOf(4); return err },
		"asleep":           func() error { _, err := StatusOf(&messages.Status{Asleep: 9}); return err },
		"mode":             func() error { _, err := PauseOf(&messages.Pause{Mode: 3}); return err },
		"digest":           func() error { _, err := ManifestOf(&messages.Manifest{Digest: "md5:00"}); return err },
		"gap": func() error {
			_, err := GapsOf(&messages.Gaps{Gaps: []*messages.Gap{{Bytes: math.MaxUint64}}})
			return err
		},
		"info":   func() error { _, err := InfoOf([]byte("{")); return err },
		"encode": func() error { _, err := EncodeOf(nil); return err },
	} {
		if err := read(); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// Whatever bytes make a message, reading it neither panics nor yields what cannot be
// written again.
func FuzzOf(f *testing.F) {
	for _, m := range []proto.Message{&messages.Request{Id: "a", Input: &messages.Request_Prompt{Prompt: "x"}, Eos: &messages.IdList{}},
		&messages.News{Ids: []int32{1}, End: &messages.End{Reason: "stop"}}, &messages.Manifest{Tensors: []*messages.Entry{{Name: "a", Shape: []int64{1}}}}} {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if m := new(messages.Request); proto.Unmarshal(data, m) == nil {
			if r, err := RequestOf(m); err == nil {
				if _, err := Request(r); err != nil {
					t.Error(err)
				}
			}
		}
		if m := new(messages.News); proto.Unmarshal(data, m) == nil {
			if c, err := NewsOf(m); err == nil {
				over(t, News(c))
			}
		}
		if m := new(messages.Manifest); proto.Unmarshal(data, m) == nil {
			if out, err := ManifestOf(m); err == nil {
				if _, err := Manifests(out, 1000); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
