package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

// The same prompt with an adapter and without, in one batch.
func ExampleEngine_LoadAdapter() {
	m, err := checkpoint.Open("../test/testdata/families/llama")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	e, err := engine.Spawn(ctx, engine.Config{Checkpoint: m, MaxAdapters: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer end(e)
	if err := e.LoadAdapter(ctx, "policy-1", os.DirFS("../test/testdata/adapters/patterns")); err != nil {
		log.Fatal(err)
	}
	outs, err := e.GenerateBatch(ctx, []engine.Request{
		{PromptIDs: []int32{206}, MaxNewTokens: 6, Adapter: "policy-1"},
		{PromptIDs: []int32{206}, MaxNewTokens: 6},
	}, engine.BatchOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, out := range outs {
		fmt.Println(out.TokenIDs)
	}
	if err := e.UnloadAdapter(ctx, "policy-1"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(e.Adapters()), "adapters are loaded")
	// Output:
	// [221 247 192 30 236 67]
	// [221 250 250 84 84 84]
	// 0 adapters are loaded
}
