package texts

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
)

// asked is an engine that only notes what it is asked for.
type asked struct {
	request engine.Request
	ends    []int32
}

var errAsked = errors.New("noted")

func (a *asked) AddRequest(_ context.Context, r engine.Request) (*engine.Stream, error) {
	a.request = r
	return nil, errAsked
}

func (a *asked) Info() engine.Info { return engine.Info{EOS: a.ends, Vocab: 2048} }

// tiny is the embedded model and its codec.
func tiny(t *testing.T) (*checkpoint.Checkpoint, *text.Codec) {
	t.Helper()
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	codec, err := text.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	return model, codec
}

func words(s string) Prompt { return Prompt{Text: &s} }

// Whatever a prompt is given as, the engine gets its ids.
func TestPrompts(t *testing.T) {
	_, codec := tiny(t)
	chat := []text.Message{{Role: "user", Content: "Hello"}}
	rendered, err := codec.EncodeChat(chat)
	if err != nil {
		t.Fatal(err)
	}
	once := "Once upon"
	for name, c := range map[string]struct {
		r    Request
		want []int32
	}{
		"ids":        {Request{Prompt: Prompt{IDs: []int32{4, 5}}}, []int32{4, 5}},
		"prompt ids": {Request{Request: engine.Request{PromptIDs: []int32{4, 5}}}, []int32{4, 5}},
		"text":       {Request{Prompt: words(once)}, codec.Encode(once)},
		"raw text":   {Request{Prompt: Prompt{Raw: &once}}, codec.EncodeRaw(once)},
		"messages":   {Request{Prompt: Prompt{Messages: chat}}, rendered},
		"nothing":    {Request{}, nil},
	} {
		e := &asked{}
		if _, err := New(e, codec).Generate(t.Context(), c.r); !errors.Is(err, errAsked) || !slices.Equal(e.request.PromptIDs, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, e.request.PromptIDs, err, c.want)
		}
	}
	if slices.Equal(codec.Encode(once), codec.EncodeRaw(once)) {
		t.Error("raw text of the model does not differ from text, so that nothing is tested")
	}
}

// What ends a request by id is added to what ends it anyway, if anything does.
func TestStopIDs(t *testing.T) {
	for name, c := range map[string]struct {
		own    []int32
		ignore bool
		ids    []int32
		want   []int32
	}{
		"none":            {nil, true, nil, nil},
		"the model's":     {nil, false, []int32{5, 6}, []int32{0, 5, 6}},
		"its own":         {[]int32{3}, false, []int32{5}, []int32{3, 5}},
		"without ends":    {[]int32{}, false, []int32{5}, []int32{5}},
		"ends ignored":    {nil, true, []int32{5}, []int32{5}},
		"its own ignored": {[]int32{3}, true, []int32{5}, []int32{5}},
	} {
		e := &asked{ends: []int32{0}}
		r := Request{Request: engine.Request{EOS: c.own, IgnoreEOS: c.ignore}, StopIDs: c.ids}
		if _, err := New(e, nil).Generate(t.Context(), r); !errors.Is(err, errAsked) {
			t.Fatal(err)
		}
		if ignored := len(c.ids) == 0; !slices.Equal(e.request.EOS, c.want) || e.request.IgnoreEOS != ignored {
			t.Errorf("%s: ends %v, ignored %t, want %v", name, e.request.EOS, e.request.IgnoreEOS, c.want)
		}
	}
}

// An id that no token has cannot end a request.
func TestStopIDsAreTokens(t *testing.T) {
	for id, want := range map[int32]error{0: errAsked, 2047: errAsked, -1: engine.ErrVocab, -4: engine.ErrVocab, 2048: engine.ErrVocab} {
		if _, err := New(&asked{}, nil).Generate(t.Context(), Request{StopIDs: []int32{5, id}}); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", id, err, want)
		} else if want == engine.ErrVocab && !strings.Contains(err.Error(), fmt.Sprintf("id %d in stop_ids, the vocabulary has 2048", id)) {
			t.Error(err)
		}
	}
}

func TestBadWords(t *testing.T) {
	_, codec := tiny(t)
	own := make([][]int32, 1, 8) // the caller's, and has room
	own[0] = []int32{3, 4}
	e := &asked{}
	r := Request{Request: engine.Request{Sampling: sampling.Params{BadWords: own}}, BadWords: []string{"girl", " boy"}}
	if _, err := New(e, codec).Generate(t.Context(), r); !errors.Is(err, errAsked) {
		t.Fatal(err)
	}
	want := [][]int32{{3, 4}, codec.EncodeRaw("girl"), codec.EncodeRaw(" girl"), codec.EncodeRaw(" boy")}
	if got := e.request.Sampling.BadWords; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if own[:2][1] != nil {
		t.Error("the caller's list was written to")
	}
}

// A model without a codec takes ids, and says of all else why.
func TestWithoutText(t *testing.T) {
	why := errors.New("odd tokenizer")
	l := WithoutText(&asked{}, why)
	for name, r := range map[string]Request{
		"text":      {Prompt: words("a")},
		"messages":  {Prompt: Prompt{Messages: []text.Message{{Role: "user"}}}},
		"stop":      {Prompt: Prompt{IDs: []int32{1}}, Stop: []string{"a"}},
		"bad words": {Prompt: Prompt{IDs: []int32{1}}, BadWords: []string{"a"}},
	} {
		if _, err := l.Generate(t.Context(), r); !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.Decode(t.Context(), []int32{1}); !errors.Is(err, why) {
		t.Errorf("decode: %v", err)
	}
	if _, err := l.Generate(t.Context(), Request{Prompt: Prompt{IDs: []int32{1}}, StopIDs: []int32{2}}); !errors.Is(err, errAsked) {
		t.Errorf("ids: %v", err)
	}
	if _, err := New(&asked{}, nil).Encode(t.Context(), words("a")); !errors.Is(err, text.ErrNoTokenizer) {
		t.Errorf("without a codec: %v", err)
	}
}

// What no model could take is refused before an engine hears of it.
func TestRefused(t *testing.T) {
	_, codec := tiny(t)
	s := "a"
	for name, c := range map[string]struct {
		r    Request
		want error
	}{
		"two prompts":       {Request{Prompt: Prompt{IDs: []int32{1}, Text: &s}}, engine.ErrParams},
		"prompt twice":      {Request{Request: engine.Request{PromptIDs: []int32{1}}, Prompt: words("a")}, engine.ErrParams},
		"no UTF-8":          {Request{Prompt: words("a\xff")}, engine.ErrParams},
		"raw no UTF-8":      {Request{Prompt: Prompt{Raw: new("\xff")}}, engine.ErrParams},
		"message no UTF-8":  {Request{Prompt: Prompt{Messages: []text.Message{{Role: "user", Content: "\xff"}}}}, engine.ErrParams},
		"role no UTF-8":     {Request{Prompt: Prompt{Messages: []text.Message{{Role: "\xff"}}}}, engine.ErrParams},
		"empty bad word":    {Request{BadWords: []string{"a", ""}}, engine.ErrParams},
		"bad word no UTF-8": {Request{BadWords: []string{"\xff"}}, engine.ErrParams},
		"empty stop":        {Request{Stop: []string{""}}, text.ErrStops},
		"many stops":        {Request{Stop: make([]string, text.MaxStops+1)}, text.ErrStops},
		"stop twice":        {Request{Request: engine.Request{Stop: func() engine.Matcher { return nil }}, Stop: []string{"a"}}, engine.ErrParams},
	} {
		_, err := New(&asked{}, codec).Generate(t.Context(), c.r)
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
