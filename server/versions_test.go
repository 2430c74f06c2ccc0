package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// watched is a service whose sequences are drawn under a changing server's eye.
type watched struct {
	texts.Service
	by *changing
}

func (w watched) Generate(ctx context.Context, r texts.Request) (texts.Stream, error) {
	r.Sampling.Processor = w.by
	return w.Service.Generate(ctx, r)
}

// covers says that spans begin at 0, follow each other without a gap, and end at end.
func covers(list []weightSpan, end int) bool {
	at := 0
	for i, s := range list {
		if s.Start != at || s.End <= at || i > 0 && list[i-1].Version == s.Version {
			return false
		}
		at = s.End
	}
	return at == end
}

func versionsOf(list []weightSpan) (names []string) {
	for _, s := range list {
		names = append(names, s.Version)
	}
	return names
}

// changed sends a call, changes the weights while it runs, and lets it end.
func (c *changing) changed(path string, body object, kv engine.KVPolicy, versions ...string) (http.Header, []byte) {
	c.t.Helper()
	c.hurried.Store(false)
	var header http.Header
	var data []byte
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := http.DefaultClient.Do(c.request(c.t.Context(), path, body))
		if err != nil {
			c.t.Error(err)
			return
		}
		defer drop(c.t, resp)
		header = resp.Header
		if data, err = io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			c.t.Errorf("%d, %v: %s", resp.StatusCode, err, data)
		}
	}()
	for _, version := range versions {
		c.moved(20)
		c.update(version, kv)
	}
	c.hurried.Store(true)
	<-done
	return header, data
}

// pieces are the objects of an answer's events, or the answer.
func pieces(data []byte) (list [][]byte) {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if one, found := bytes.CutPrefix(line, []byte("data: ")); found && string(one) != "[DONE]" {
			list = append(list, one)
		}
	}
	if list == nil {
		list = [][]byte{data}
	}
	return list
}

// ends are what the answers of a call tell of each sequence at last, and spans what the
// chunks before told of their own tokens, put together.
func (r *rig) ends(data []byte) (ends map[int]toldChoice, spans map[int][]weightSpan) {
	ends, spans = map[int]toldChoice{}, map[int][]weightSpan{}
	for _, piece := range pieces(data) {
		for _, choice := range r.read(piece).Choices {
			all := ends[choice.Index]
			first := all.Weights == nil
			all.join(choice)
			ends[choice.Index] = all
			switch w := choice.Weights; {
			case w == nil && first:
				r.t.Errorf("the first chunk tells no version: %s", piece)
			case w != nil && choice.FinishReason == "":
				for _, s := range w.Spans {
					spans[choice.Index] = joined(spans[choice.Index], s)
				}
			}
		}
	}
	return ends, spans
}

// joined lets spans go on with one of a chunk. What lies between is as before.
func joined(list []weightSpan, s weightSpan) []weightSpan {
	if n := len(list); n > 0 {
		list[n-1].End = s.Start
		if list[n-1].Version == s.Version {
			list[n-1].End = s.End
			return list
		}
	}
	return append(list, s)
}

// Weights change in the middle of calls: every token says who sampled it, and whose its
// context's cache is.
func TestVersionsOverUpdates(t *testing.T) {
	t.Parallel()
	c := serveChanging(t)
	serves, count := engine.FirstVersion, 0
	for _, path := range []string{completionsPath, chatPath} {
		for name, kv := range kvPolicies {
			if name == "abort" || path == chatPath && name == "keep" {
				continue
			}
			for _, stream := range []bool{false, true} {
				body := object{"n": 2, "seed": 3, "max_tokens": 250, "ignore_eos": true, "return_token_ids": true, "processed_logprobs": true, "stream": stream}
				if path == chatPath {
					body["messages"] = say("Write a story.")
				} else {
					body["prompt"] = "Once upon a time"
				}
				count++
				want := []string{serves, fmt.Sprintf("v%da", count), fmt.Sprintf("v%db", count)}
				serves = want[2]
				header, data := c.changed(path, body, kv, want[1:]...)
				begin := want[2]
				if stream {
					begin = want[0]
				}
				if got := header.Get(versionHeader); got != begin {
					t.Errorf("%s by %s, stream %t: %s %q, want %q", path, name, stream, versionHeader, got, begin)
				}
				c.exact(path, name, stream, want, data)
			}
		}
	}
}

func (c *changing) exact(path, policy string, stream bool, want []string, data []byte) {
	c.t.Helper()
	ends, streamed := c.ends(data)
	prompt := c.read(pieces(data)[0]).PromptIDs // of chats
	for i, end := range ends {
		about := fmt.Sprintf("%s by %s, stream %t, sequence %d", path, policy, stream, i)
		w, n, before := end.Weights, len(end.IDs), len(prompt)+len(end.PromptIDs)
		if w == nil || n != 250 || len(end.Processed) != n || !covers(w.Spans, n) || !slices.Equal(versionsOf(w.Spans), want) {
			c.t.Errorf("%s: %d tokens by %+v, want %v", about, n, w, want)
			continue
		}
		if policy == "recompute" {
			if len(w.KV) != 1 || w.KV[0] != (weightSpan{want[2], 0, before + n - 1}) {
				c.t.Errorf("%s: cache of %+v behind a prompt of %d", about, w.KV, before)
			}
		} else if !covers(w.KV, before+n-1) || !slices.Equal(versionsOf(w.KV), want) || w.KV[1].Start != before+w.Spans[1].Start-1 {
			c.t.Errorf("%s: cache of %+v behind a prompt of %d, tokens by %+v", about, w.KV, before, w.Spans)
		}
		if told := streamed[i]; stream {
			told[len(told)-1].End = n
			if !slices.Equal(told, w.Spans) {
				c.t.Errorf("%s: chunks tell %+v, the last one %+v", about, told, w.Spans)
			}
		}
	}
	if len(ends) != 2 {
		c.t.Errorf("%d sequences", len(ends))
	}
}

// What an update ends tells what its tokens were made by.
func TestVersionsOfWhatIsGivenUp(t *testing.T) {
	t.Parallel()
	c := serveChanging(t)
	serves, count := engine.FirstVersion, 0
	for reason, ask := range map[string]object{"abort": {"kv_policy": "abort"}, "stale": {"max_staleness": 0, "kv_policy": "keep"}} {
		for _, stream := range []bool{false, true} {
			body := object{"prompt": "Once upon a time", "max_tokens": 250, "ignore_eos": true, "return_token_ids": true, "stream": stream}
			maps.Copy(body, ask)
			count++
			next := fmt.Sprintf("v%d", count)
			_, data := c.changed(completionsPath, body, engine.KVKeep, next)
			ends, _ := c.ends(data)
			w, n := ends[0].Weights, len(ends[0].IDs)
			if ends[0].FinishReason != reason || w == nil || n == 0 || n == 250 || !covers(w.Spans, n) || len(w.Spans) > 2 || w.Spans[0].Version != serves || len(w.KV) == 0 {
				t.Errorf("stream %t: ended %s with %d tokens by %+v, want %s by %s", stream, ends[0].FinishReason, n, w, reason, serves)
			}
			serves = next
		}
	}
}
