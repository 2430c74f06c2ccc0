package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cbactor/cbactor/engine"
)

// ask generates two tokens and tells how much of the prompt was found in the cache.
func ask(e *engine.Engine, prompt []int32) {
	stream, err := e.AddRequest(context.Background(), engine.Request{PromptIDs: prompt, MaxNewTokens: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("cached:", stream.Wait(context.Background()).Usage.CachedTokens)
}

// An engine that is stopped gives the memory of its cache back, unless it is to keep
// it for the next session; then shared beginnings are found again.
func ExampleEngine_Stop() {
	e, _ := spawn()
	defer end(e)
	ctx, prompt := context.Background(), make([]int32, 100)
	ask(e, prompt)
	for _, keep := range []bool{true, false} {
		if err := e.Stop(ctx, engine.StopOptions{Keep: keep}); err != nil {
			log.Fatal(err)
		}
		fmt.Println("running:", e.Running())
		if err := e.Start(ctx); err != nil {
			log.Fatal(err)
		}
		ask(e, prompt)
	}
	// Output:
	// cached: 0
	// running: false
	// cached: 96
	// running: false
	// cached: 0
}

// Somebody else may end the session: Join waits for it.
func ExampleEngine_Join() {
	e, _ := spawn()
	defer end(e)
	ctx := context.Background()
	if err := e.Stop(ctx, engine.StopOptions{Hard: true, Keep: true, Async: true}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Join(ctx), e.Running())
	fmt.Println(e.Start(ctx), e.Running())
	// Output:
	// <nil> false
	// <nil> true
}

func ExampleEngine_Warmup() {
	m, _ := model()
	e, err := engine.Spawn(context.Background(), engine.Config{Checkpoint: m, MaxRequestsPerBatch: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer end(e)
	err = e.Warmup(context.Background(), func(done, total int) { fmt.Printf("%d/%d ", done, total) })
	fmt.Println(err)
	// Output:
	// 0/4 1/4 2/4 3/4 4/4 <nil>
}

func ExampleEngine_Info() {
	m, _ := model()
	e, err := engine.Spawn(context.Background(), engine.Config{Checkpoint: m, Attention: "auto", NumBlocks: 64})
	if err != nil {
		log.Fatal(err)
	}
	defer end(e)
	info := e.Info()
	fmt.Println(info.Compute, info.KVType, info.Attention, info.Blocks, info.PageSize)
	// Output:
	// bf16 bf16 tiled 64 32
}
