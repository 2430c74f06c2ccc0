package test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// kinds is how many requests streams have that differ.
const kinds = 64

// vanished is the reason of a request whose client has gone in the middle, as every tenth does.
const vanished = "vanished"

// stream keeps streams of a server open over HTTP, each on a connection of its own, and says of
// each request what it has got, until ctx ends: then it reads to their ends those that are open.
func stream(ctx context.Context, p part) error {
	whole := context.WithoutCancel(ctx)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: p.Streams}}
	ends := make(chan ended)
	var last atomic.Int64
	var running sync.WaitGroup
	for range p.Streams {
		running.Go(func() {
			for ctx.Err() == nil {
				number := int(last.Add(1))
				stay := 0
				if number%10 == 3 {
					stay = 1 + number%20
				}
				ends <- streamOne(whole, client, p.Address, fmt.Sprintf("%s-%d", p.Name, number), number, stay)
			}
		})
	}
	go func() {
		running.Wait()
		close(ends)
	}()
	for e := range ends {
		if err := say(e); err != nil {
			return err
		}
	}
	return nil
}

// streamOne reads a request to its end, or so many tokens of it if stay is not 0.
func streamOne(ctx context.Context, client *http.Client, url, id string, number, stay int) ended {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	prompt, tokens := wanted(number % kinds)
	e := ended{ID: id, Prompt: prompt}
	err := e.over(ctx, client, url, map[string]any{
		"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": true, "stream": true, "return_token_ids": true,
	}, func() {
		if stay > 0 && len(e.Tokens) >= stay {
			e.Reason = vanished
			leave()
		}
	})
	if err != nil && e.Reason != vanished {
		e.Reason, e.Error = "broken", err.Error()
	}
	return e
}

// piece is an event of a stream of completions.
type piece struct {
	Choices []struct {
		IDs     []int32              `json:"token_ids"`
		Reason  *engine.FinishReason `json:"finish_reason"`
		Weights *struct {
			Spans []engine.VersionSpan
		} `json:"x_weights"`
	}
	Error *struct{ Message string }
}

// over asks a server for a completion and reads its events; some is called behind each that has
// brought tokens.
func (e *ended) over(ctx context.Context, client *http.Client, url string, body any, some func()) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/completions", bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", e.ID)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		text, err := io.ReadAll(resp.Body)
		return errors.Join(fmt.Errorf("%s: %s", resp.Status, text), err, resp.Body.Close())
	}
	return errors.Join(e.events(resp.Body, some), resp.Body.Close())
}

// events reads a stream to its [DONE].
func (e *ended) events(body io.Reader, some func()) error {
	for lines := bufio.NewReader(body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("the stream ends without [DONE]: %w", err)
		}
		now := time.Now().UnixNano()
		data, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
		switch {
		case len(data) == 0:
			continue
		case !found:
			return fmt.Errorf("no data: %q", line)
		case string(data) == "[DONE]":
			if e.Reason == "" {
				return errors.New("the stream has no reason why it ends")
			}
			_, err := io.Copy(io.Discard, lines)
			return err
		}
		var p piece
		if err := json.Unmarshal(data, &p); err != nil {
			return fmt.Errorf("%q: %w", data, err)
		}
		if p.Error != nil || len(p.Choices) != 1 || e.Reason != "" {
			return fmt.Errorf("an event that does not belong there: %s", data)
		}
		if err := e.take(&p, now); err != nil {
			return err
		}
		some()
	}
}

// take notes what an event tells. The last one tells of the weights of all tokens, as those before
// did of their own.
func (e *ended) take(p *piece, now int64) error {
	choice := &p.Choices[0]
	for _, id := range choice.IDs {
		e.Tokens, e.Arrived = append(e.Tokens, id), append(e.Arrived, now)
	}
	told := e.Versions
	if w := choice.Weights; w != nil && choice.Reason == nil {
		e.Versions = append(e.Versions, w.Spans...)
	}
	if choice.Reason == nil {
		return nil
	}
	e.Reason = *choice.Reason
	if choice.Weights == nil {
		return errors.New("the last event tells of no weights")
	}
	e.Versions = choice.Weights.Spans
	at := 0
	for i, s := range e.Versions {
		if s.Start != at || s.End <= at {
			return fmt.Errorf("spans of versions %v", e.Versions)
		}
		if i < len(told) && told[i].Version != s.Version {
			return fmt.Errorf("versions %v, told were %v", e.Versions, told)
		}
		at = s.End
	}
	if at != len(e.Tokens) || len(told) > len(e.Versions) {
		return fmt.Errorf("%d tokens of versions %v, told were %v", len(e.Tokens), e.Versions, told)
	}
	return nil
}
