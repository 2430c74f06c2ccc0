package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
)

// model is the embedded one, which writes children's stories.
func model() (*checkpoint.Checkpoint, *text.Codec) {
	m, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		log.Fatal(err)
	}
	codec, err := text.Load(m)
	if err != nil {
		log.Fatal(err)
	}
	return m, codec
}

// spawn starts an engine with it.
func spawn() (*engine.Engine, *text.Codec) {
	m, codec := model()
	e, err := engine.Spawn(context.Background(), engine.Config{Checkpoint: m})
	if err != nil {
		log.Fatal(err)
	}
	return e, codec
}

// end closes an engine.
func end(e *engine.Engine) {
	if err := e.Close(); err != nil {
		log.Fatal(err)
	}
}

func ExampleGenerateBatch() {
	m, codec := model()
	requests := []engine.Request{
		{PromptIDs: codec.Encode("Once upon a time"), MaxNewTokens: 5},
		{PromptIDs: codec.Encode("The sun was"), MaxNewTokens: 5},
	}
	outs, err := engine.GenerateBatch(context.Background(), engine.Config{Checkpoint: m}, requests, engine.BatchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, out := range outs {
		fmt.Printf("%s:%s\n", out.RequestID, codec.Decode(out.TokenIDs))
	}
	// Output:
	// req-1:, there was a little
	// req-2: full of endless possibilities
}

func ExampleEngine_AddRequest() {
	e, codec := spawn()
	defer end(e)
	ctx := context.Background()
	stream, err := e.AddRequest(ctx, engine.Request{PromptIDs: codec.Encode("Once upon a time"), MaxNewTokens: 12})
	if err != nil {
		log.Fatal(err)
	}
	session := text.NewSession(codec)
	for {
		chunk, err := stream.Recv(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(session.Push(chunk.TokenIDs))
		if out := chunk.Final; out != nil {
			fmt.Printf("%s\n%s after %d tokens\n", session.Finish(), out.FinishReason, out.Usage.CompletionTokens)
			break
		}
	}
	// Output:
	// , there was a little girl named Lily who lived in a
	// length after 12 tokens
}

// What can never be served is refused at once, what cannot be now may be tried again.
func ExampleEngine_AddRequest_errors() {
	e, _ := spawn()
	defer end(e)
	_, err := e.AddRequest(context.Background(), engine.Request{PromptIDs: []int32{1, 70000}})
	fmt.Println(err)
	fmt.Println(errors.Is(err, engine.ErrRejected), errors.Is(err, engine.ErrUnavailable))
	fmt.Println(engine.HTTPStatus(err), engine.Code(err))
	// Output:
	// request rejected: token id outside the vocabulary: id 70000 at position 1, the vocabulary has 2048
	// true false
	// 400 invalid_token_id
}

// Several sequences of one prompt share its cache and draw each for themselves.
func ExampleRequest_sequences() {
	e, codec := spawn()
	defer end(e)
	seed := uint64(7)
	stream, err := e.AddRequest(context.Background(), engine.Request{ID: "tale", PromptIDs: codec.Encode("Once upon a time"), MaxNewTokens: 8, N: 3, Seed: &seed,
		Sampling: sampling.Params{Temperature: 1, TopP: 0.95}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stream.ID(), len(stream.Wait(context.Background()).TokenIDs))
	for _, child := range stream.Children() {
		fmt.Println(child.ID(), len(child.Wait(context.Background()).TokenIDs))
	}
	// Output:
	// tale 8
	// tale/1 8
	// tale/2 8
}

// A prompt is scored without drawing anything: the perplexity of a text.
func ExampleRequest_score() {
	e, codec := spawn()
	defer end(e)
	stream, err := e.AddRequest(context.Background(), engine.Request{PromptIDs: codec.Encode("Once upon a time, there was a little girl."), Score: true,
		Sampling: sampling.Params{Tell: sampling.Tell{Prompt: true}}})
	if err != nil {
		log.Fatal(err)
	}
	sum := 0.0
	scores := stream.Wait(context.Background()).PromptLogprobs
	for _, s := range scores {
		sum -= float64(s.Raw)
	}
	fmt.Printf("perplexity %.1f of %d tokens\n", math.Exp(sum/float64(len(scores))), len(scores))
	// Output:
	// perplexity 4.2 of 11 tokens
}

func ExampleEngine_Cancel() {
	e, codec := spawn()
	defer end(e)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute) // ends the request, too
	defer stop()
	stream, err := e.AddRequest(ctx, engine.Request{ID: "endless", PromptIDs: codec.Encode("Once upon a time"), IgnoreEOS: true})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := stream.Recv(ctx); err != nil {
		log.Fatal(err)
	}
	e.Cancel("endless")
	out := stream.Wait(ctx)
	fmt.Println(out.FinishReason, len(out.TokenIDs) > 0)
	// Output:
	// cancelled true
}
