package test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/remote"
)

// readers is how many requests of a reader are open at a time.
const readers = 8

// ended is what a reader says of a request, when it has ended.
type ended struct {
	ID       string
	Prompt   []int32
	Tokens   []int32
	Reason   engine.FinishReason
	Error    string
	Versions []engine.VersionSpan
	Seconds  float64 // since it was asked for
	Arrived  []int64 // when each token came over HTTP, in Unix nanoseconds
}

// wanted is what the request of a number asks for.
func wanted(number int) (prompt []int32, tokens int) {
	for i := range 5 + number%30 {
		prompt = append(prompt, int32(3+(i*31+number*17)%2000))
	}
	return prompt, 20 + number*7%150
}

// read asks for tokens, reads them as they come, and says of each request what it has got, until
// ctx ends: then it reads to their ends those that are open.
func read(ctx context.Context, p part) error {
	whole := context.WithoutCancel(ctx)
	c, err := remote.Connect(whole, p.Address, remote.Options{})
	if err != nil {
		return err
	}
	ends := make(chan ended)
	var last atomic.Int64
	var running sync.WaitGroup
	for range readers {
		running.Go(func() {
			for ctx.Err() == nil {
				ends <- readOne(whole, c, p.Name, int(last.Add(1)))
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
	return c.Close()
}

// readOne reads a request to its end. A gap, a repetition and a second end are errors of it.
func readOne(ctx context.Context, api engine.API, name string, number int) (e ended) {
	begin := time.Now()
	e = ended{ID: fmt.Sprintf("%s-%d", name, number)}
	defer func() { e.Seconds = time.Since(begin).Seconds() }()
	prompt, tokens := wanted(number)
	e.Prompt = prompt
	s, err := api.AddRequest(ctx, engine.Request{ID: e.ID, PromptIDs: prompt, MaxNewTokens: tokens, IgnoreEOS: true})
	if err != nil {
		e.Reason, e.Error = "refused", err.Error()
		return e
	}
	for {
		c, err := s.Recv(ctx)
		if err != nil {
			e.Reason, e.Error = "broken", err.Error()
			return e
		}
		if c.Offset != len(e.Tokens) {
			e.Reason, e.Error = "broken", fmt.Sprintf("tokens from %d on, %d have come", c.Offset, len(e.Tokens))
			return e
		}
		if e.Tokens = append(e.Tokens, c.TokenIDs...); c.Final == nil {
			continue
		}
		e.Reason, e.Versions = c.Final.FinishReason, c.Final.WeightVersions
		if c.Final.Err != nil {
			e.Error = c.Final.Err.Error()
		}
		if !slices.Equal(c.Final.TokenIDs, e.Tokens) {
			e.Reason, e.Error = "broken", fmt.Sprintf("in all %v, in pieces %v", c.Final.TokenIDs, e.Tokens)
		}
		return e
	}
}
