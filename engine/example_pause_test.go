package engine_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// Who holds the pause may compute with the model; requests go on behind it.
func ExampleEngine_Pause() {
	e, _ := spawn()
	defer end(e)
	ctx := context.Background()
	stream, err := e.AddRequest(ctx, engine.Request{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 20, IgnoreEOS: true})
	if err != nil {
		log.Fatal(err)
	}
	hold, err := e.Pause(ctx, engine.PauseOptions{Lease: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	logits, err := hold.Logits(ctx, []int32{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Status().Mode, len(logits) == e.Info().Vocab)
	if err := hold.Release(""); err != nil {
		log.Fatal(err)
	}
	out := stream.Wait(ctx)
	fmt.Println(out.FinishReason, len(out.TokenIDs))
	// Output:
	// paused true
	// length 20
}

// An engine that sleeps gives its memory to others on the machine; requests are kept.
func ExampleEngine_Sleep() {
	e, _ := spawn()
	defer end(e)
	ctx := context.Background()
	if err := e.Sleep(ctx, engine.KV|engine.Weights); err != nil {
		log.Fatal(err)
	}
	stream, err := e.AddRequest(ctx, engine.Request{PromptIDs: []int32{1, 2, 3}, MaxNewTokens: 20, IgnoreEOS: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Status().Mode)
	if err := e.Wake(ctx); err != nil {
		log.Fatal(err)
	}
	out := stream.Wait(ctx)
	fmt.Println(out.FinishReason, len(out.TokenIDs))
	// Output:
	// sleeping
	// length 20
}
