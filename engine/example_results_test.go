package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/cbactor/cbactor/engine"
)

// Requests are added together; their results wait to be read, in the order of their
// ends.
func ExampleEngine_AddRequests() {
	e, codec := spawn()
	defer end(e)
	ctx := context.Background()
	prompt := codec.Encode("One day, a dog")
	ids, err := e.AddRequests(ctx, []engine.Request{
		{ID: "long", PromptIDs: prompt, MaxNewTokens: 500, IgnoreEOS: true},
		{ID: "short", PromptIDs: prompt, MaxNewTokens: 3},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids)
	for out, err := range e.Results(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out.RequestID, len(out.TokenIDs))
	}
	// Output:
	// [long short]
	// short 3
	// long 500
}

func ExampleEngine_Result() {
	e, codec := spawn()
	defer end(e)
	ctx := context.Background()
	if _, err := e.AddRequests(ctx, []engine.Request{{ID: "a", PromptIDs: codec.Encode("One day, a dog"), MaxNewTokens: 2}}); err != nil {
		log.Fatal(err)
	}
	out, err := e.Result(ctx, "a")
	fmt.Println(out.RequestID, out.FinishReason, err)
	_, err = e.Result(ctx, "a")
	fmt.Println(errors.Is(err, engine.ErrUnknownID))
	// Output:
	// a length <nil>
	// true
}

// One that takes every result waits for more, until the engine has stopped.
func ExampleEngine_NextResult() {
	e, codec := spawn()
	defer end(e)
	ctx := context.Background()
	if _, err := e.AddRequests(ctx, []engine.Request{{PromptIDs: codec.Encode("One day"), MaxNewTokens: 2}, {PromptIDs: codec.Encode("One day"), MaxNewTokens: 3}}); err != nil {
		log.Fatal(err)
	}
	if err := e.Stop(ctx, engine.StopOptions{Async: true}); err != nil { // what was accepted completes
		log.Fatal(err)
	}
	for {
		out, err := e.NextResult(ctx)
		if err == io.EOF {
			break
		}
		fmt.Println(out.RequestID, err)
	}
	// Output:
	// req-1 <nil>
	// req-2 <nil>
}

func ExampleEngine_ResultsOf() {
	e, codec := spawn()
	defer end(e)
	ctx := context.Background()
	ids, err := e.AddRequests(ctx, []engine.Request{{PromptIDs: codec.Encode("Once upon a time"), MaxNewTokens: 6, Streaming: true}})
	if err != nil {
		log.Fatal(err)
	}
	tokens := 0
	for chunk, err := range e.ResultsOf(ctx, ids[0]) { // what is new with every step
		if err != nil {
			log.Fatal(err)
		}
		tokens += len(chunk.TokenIDs)
	}
	fmt.Println(tokens)
	// Output:
	// 6
}

// A handler is called instead of being waited for: once, at the end, or with every
// step's news if the request is streaming.
func ExampleEngine_Handle() {
	e, codec := spawn()
	defer end(e)
	ids, err := e.AddRequests(context.Background(), []engine.Request{{PromptIDs: codec.Encode("Once upon a time"), MaxNewTokens: 6}})
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan struct{})
	err = e.Handle(ids[0], func(c engine.Chunk) {
		fmt.Println(c.RequestID, len(c.TokenIDs), c.Final.FinishReason)
		close(done)
	})
	if err != nil {
		log.Fatal(err)
	}
	<-done
	// Output:
	// req-1 6 length
}
