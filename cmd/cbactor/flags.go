package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

// engineFlags are the flags of every command that starts an engine.
type engineFlags struct {
	model  string
	config engine.Config
}

// add defines the flags on a command.
func (f *engineFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	addModel(cmd, &f.model)
	fs.StringVar(&f.config.Compute, "compute", "auto", "type to compute in: f32, or auto, which means f32")
	for _, n := range f.numbers() {
		fs.IntVar(n.value, n.name, 0, n.usage)
	}
	fs.BoolVar(&f.config.Pin, "pin", true, "bind threads to CPUs, where the system can")
	fs.Uint64Var(&f.config.Seed, "seed", 0, "seed of sampling; the same seed and request ids give the same tokens; 0: random")
	complete(cmd, "compute", func() []string { return []string{"auto", "f32"} })
}

// number is a flag from 0, which means automatic, to top. What the engine bounds
// by the model is left to it.
type number struct {
	value *int
	name  string
	top   int
	usage string
}

func (f *engineFlags) numbers() []number {
	c := &f.config
	return []number{
		{&c.Threads, "threads", 1024, "threads that compute; 0: one for each core"},
		{&c.PageSize, "page-size", 4096, "tokens of a cache block; 0: 32"},
		{&c.NumBlocks, "num-blocks", 1 << 30, "cache blocks at most; 0: from memory"},
		{&c.MaxBatchTokens, "max-batch-tokens", 1 << 16, "tokens of a step; 0: 512"},
		{&c.MaxRequestsPerBatch, "max-requests-per-batch", 1 << 16, "requests that run at a time; 0: 64"},
		{&c.MaxContext, "max-context", 1 << 30, "tokens of a request, prompt and generated; 0: the model's context"},
		{&c.MaxQueueSize, "max-queue-size", 1 << 30, "requests that are open at a time, waiting and running; 0: 4096"},
	}
}

// check refuses what no model could take.
func (f *engineFlags) check() error {
	for _, n := range f.numbers() {
		if *n.value < 0 || *n.value > n.top {
			return badUsage("--%s is %d: it must be from 0 to %d", n.name, *n.value, n.top)
		}
	}
	return nil
}

// addModel defines --model.
func addModel(cmd *cobra.Command, model *string) {
	cmd.Flags().StringVar(model, "model", checkpoint.Embedded,
		"model: tiny (part of the program), smollm2, smollm2-bf16, a checkpoint folder, or a .gguf file")
	complete(cmd, "model", func() []string { return []string{checkpoint.Embedded, "smollm2", "smollm2-bf16"} })
}

// complete names the values of a flag to shells, which also offer files where it
// takes them.
func complete(cmd *cobra.Command, flag string, values func() []string) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if flag == "model" {
		directive = cobra.ShellCompDirectiveDefault
	}
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), directive
	})
	if err != nil { // only when the flag does not exist, or twice
		panic(fmt.Sprintf("completion of --%s: %v", flag, err))
	}
}
