// Command gpu measures the kernels, the executor and the engine on an NVIDIA GPU, with models that
// have the shapes of released ones of 0.5 to 8 billion parameters and weights of no meaning: the
// time of a step depends on its sizes alone.
//
//	go run ./bench/gpu --shape 8b --out 8b.json
//
// It measures
//   - the device: how fast its memory is copied, and the largest matrix product;
//   - kernels: each of a step's by itself, run back to back from a graph, as shares of the memory's
//     bandwidth and of the tensor cores' rate, of the device's and of an H200's by its data sheet. The L2
//     cache has neither the weights nor the blocks of the KV cache that are read, but rows of a step, where
//     they are few, as within a step: what reads those alone can be faster than memory;
//   - steps: decoding through the executor, kernels launched one by one and as graphs, with the gap
//     between steps and the share of the time that the device works, by its own clock;
//   - the engine: generated tokens a second, and how long a pause takes to be acknowledged.
//
// Weights are numbers of bf16 that are drawn once, into a piece of memory that all tensors are copied
// from; so they take the host as much memory as the model has. For what needs a cache of long contexts
// a few prompts are computed, and their blocks are copied for the others.
//
// The report (type report) is JSON, a table of it is written to the standard output. Times are in
// microseconds but for those of pauses and first tokens, which are milliseconds.
//
// Concurrency: one goroutine, locked to its thread while it calls the driver. On the emulated device of
// package cuda/emu everything runs, at the shape "tiny", and times mean nothing.
package main
