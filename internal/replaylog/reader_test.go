package replaylog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// text is a log of a header and lines.
func text(t testing.TB, lines ...Line) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	h := header
	h.Version = Version
	if err := enc.Encode(h); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// readAll reads a log to its end.
func readAll(log string) (in *Reader, err error) {
	in, err = NewReader(strings.NewReader(log))
	for err == nil {
		_, err = in.Next()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return in, err
}

// What does not fit is refused with the number of its line.
func TestLinesThatAreRefused(t *testing.T) {
	q, s := pair(1)
	w := Line{Weights: first}
	with := func(change func(*Request, *Sequence)) string {
		q, s := pair(1)
		change(q.Request, s.Sequence)
		return text(t, w, q, s)
	}
	for name, c := range map[string]struct{ log, want string }{
		"empty":               {"", "it is empty"},
		"no header":           {"{}\n", "no header"},
		"another version":     {`{"cbactor_replay_log":2}` + "\n", "version 2"},
		"no pages":            {`{"cbactor_replay_log":1,"vocab":3}` + "\n", "pages of 0 tokens"},
		"no line":             {text(t) + "{}\n", "line 2: it must be one of"},
		"two in one":          {text(t, Line{Weights: first, Lost: 2}), "line 2: it must be one of"},
		"rest":                {text(t) + "{\"lost\":1} 2\n", "line 2: it goes on"},
		"unknown field":       {text(t) + `{"weights":{"epoch":1,"colour":3}}` + "\n", "colour"},
		"fewer than none":     {text(t, Line{Lost: -1}), "line 2: -1 lines"},
		"epoch again":         {text(t, w, w), "line 3: weights of epoch 1 come after"},
		"digest":              {text(t, Line{Weights: &Weights{Epoch: 1, Digest: "md5:00"}}), "line 2: the digest"},
		"no digest":           {text(t, Line{Weights: &Weights{Epoch: 1}}), "line 2: the digest"},
		"request again":       {text(t, w, q, q), "line 4: request 1 comes after request 1"},
		"sequence again":      {text(t, w, q, s, s), "line 5: a sequence of request 1, of which none is open"},
		"no prompt":           {with(func(q *Request, _ *Sequence) { q.Prompt = nil }), "no prompt"},
		"id of the prompt":    {with(func(q *Request, _ *Sequence) { q.Prompt[1] = 100 }), "the prompt has id 100"},
		"no sequences":        {with(func(q *Request, _ *Sequence) { q.Sequences = 0 }), "0 sequences"},
		"many sequences":      {with(func(q *Request, _ *Sequence) { q.Sequences = 1 << 30 }), "1073741824 sequences"},
		"parameter":           {with(func(q *Request, _ *Sequence) { q.Sampling.TopP = 3 }), "top_p"},
		"id of a token":       {with(func(_ *Request, s *Sequence) { s.Tokens[0] = -1 }), "the sequence has id -1"},
		"child":               {with(func(_ *Request, s *Sequence) { s.Child = 1 }), "sequence 1 of request 1"},
		"child before":        {with(func(_ *Request, s *Sequence) { s.Child = -1 }), "sequence -1 of request 1"},
		"no caches":           {with(func(_ *Request, s *Sequence) { s.Caches = nil }), "caches must begin"},
		"a cache without end": {with(func(_ *Request, s *Sequence) { s.Caches = append(s.Caches, Cache{First: 3, Runs: s.Sampled}) }), "cache 1 is of the tokens from 3 on and before 3, of 3"},
		"caches descend":      {with(func(_ *Request, s *Sequence) { s.Caches = append(s.Caches, Cache{Runs: s.Sampled}) }), "cache 0 is of"},
		"no runs":             {with(func(_ *Request, s *Sequence) { s.Caches[0].Runs = nil }), "runs must begin with 0"},
		"a run behind":        {with(func(_ *Request, s *Sequence) { s.Sampled = []Run{{1, 0}, {2, 3}} }), "3 is behind the end, 3"},
		"runs descend":        {with(func(_ *Request, s *Sequence) { s.Sampled = []Run{{1, 0}, {2, 0}} }), "0 comes after 0"},
		"epochs descend":      {with(func(_ *Request, s *Sequence) { s.Sampled = []Run{{1, 0}, {1, 2}} }), "epoch 1 comes after epoch 1"},
		"unknown epoch":       {with(func(_ *Request, s *Sequence) { s.Sampled[0].Epoch = 7 }), "no weights of epoch 7"},
		"spans of nothing":    {with(func(_ *Request, s *Sequence) { s.Tokens = nil }), "spans of no tokens"},
	} {
		if _, err := readAll(c.log); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// A last line that was cut is left out, and so is what belongs to a lost line.
func TestALogThatIsNotWhole(t *testing.T) {
	q, s := pair(1)
	whole := text(t, Line{Weights: first}, q, s)
	in, err := readAll(whole[:len(whole)-9])
	if err != nil || !in.Torn() || in.Open() != 1 {
		t.Errorf("%v, torn %t, %d open", err, in.Torn(), in.Open())
	}
	in, err = readAll(text(t, Line{Weights: first}, Line{Lost: 3}, s))
	if err != nil || in.Lost() != 4 {
		t.Errorf("%v, %d lost", err, in.Lost())
	}
}

// Sequences of weights whose line was lost are lost, and the others are read.
func TestALogWithoutSomeWeights(t *testing.T) {
	q, s := pair(1)
	s.Sequence.Caches[0].Runs = []Run{{1, 0}, {2, 2}}
	q2, s2 := pair(2)
	in, err := NewReader(strings.NewReader(text(t, Line{Weights: first}, Line{Lost: 1}, q, q2, s, s2)))
	if err != nil {
		t.Fatal(err)
	}
	var read []uint64
	for err == nil {
		var e Entry
		if e, err = in.Next(); e.Sequence != nil {
			read = append(read, e.Sequence.Request)
		}
	}
	if err != io.EOF || in.Lost() != 2 || in.Open() != 0 || len(read) != 1 || read[0] != 2 {
		t.Errorf("%v, %d lost, %d open, read are %v", err, in.Lost(), in.Open(), read)
	}
}

func TestIs(t *testing.T) {
	for head, want := range map[string]bool{
		text(t): true, text(t) + "{": true, `{"cbactor_replay_log":2}` + "\n": true,
		"": false, "\n": false, "{}\n": false, `{"cbactor_trace":1}` + "\n": false, strings.TrimSpace(text(t)): false,
	} {
		if got := Is([]byte(head)); got != want {
			t.Errorf("%q: %t", head, got)
		}
	}
}

// No file leads to worse than an error of class ErrFormat.
func FuzzReader(f *testing.F) {
	q, s := pair(1)
	f.Add(text(f, Line{Weights: first}, q, s))
	f.Fuzz(func(t *testing.T, log string) {
		if _, err := readAll(log); err != nil && !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
	})
}
