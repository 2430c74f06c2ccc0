// Package cpuexec is the executor for CPUs: one forward pass for all families, by the
// options of a model.Config, over a paged cache, with weights in float32, bf16, 8 or 4 bits.
//
// Purpose: right first. Every logit is one chain of operations in one order,
// whatever is computed beside it: products sum over ascending k, attention goes
// over a sequence's positions in ascending tiles of up to 32 that never cross a
// page, and after every 1,024 positions begins a sum of its own, which is merged with
// those before; keys and values are read back from the cache, rounded to its type, a
// chunk's own too. So batch, chunks, block ids, number of threads and instruction set
// never change a bit; the page size does where it cuts the tiles. Plain attention, by the
// definition and slow, is there to be compared with: Config.Attention.
//
// Attention: neighbouring positions of a sequence share what they read of the cache, up
// to 16 of them and their query heads. Threads take such spans as they come; long contexts are
// shared by segments. Where all that a step computes of a sequence is one span, as in decoding, who
// takes it stores its keys and values first, for nobody else reads them in this step. Layers
// that slide skip what lies before a span's windows; a query attends to the rest of the tile in
// which its own begins, so tiles and segments stay where they are. A model with both kinds
// of attention has a cache group for each, which share the pool by sectors.
//
// Tuning: rows and panels of a call, tokens that attend together and the work for which one
// thread is enough are figures that New can measure (Config.Tune): they say who computes
// what and when, and no sum is cut by them. Matrices of one shape share their figures, those of
// sets that are loaded later, too.
//
// Numbers: a matrix is packed in one kernels.Format, which Config.Compute, Config.Quantize
// and what is stored decide at New. With ComputeInt8 blocks of Q8_0, Q4_1, Q4_0, Q4_K, Q5_K
// and Q6_K are computed with as they are, and with ComputeBF16 bf16 and MXFP4 are, so that
// logits are those of float32. What has to be quantised is at load, as ggml does, but for K
// types, of which there is a simpler way for weights that are loaded later. Where q, k and v are
// stored in several types they are several matrices, whose panels follow one another. Gate and
// up, whose panels alternate, and what shares a panel then get bf16 or, with ComputeInt8, 8 bits with a
// scale for each 32 (beside Q4_1 what QuantizeQ4 makes of floats stays in 4). With ComputeInt8 rows are packed
// in 8 bits, with a scale for each 32 numbers of a row, or 256 where weights have one for
// a column: a row's bits stay its own. Norms, rotation, attention, gates, adapters and the
// residual stream are in float32.
//
// Sampling: rows are drawn, and prompts scored, by the threads, each with a Sampler
// of its own, up to 64 rows of logits at a time. Of greedy rows, of which nothing but the
// token is wanted, logits are compared panel by panel and never written. A Processor of a
// request runs there, and what it does wrong fails its row alone.
//
// Experts: a step's tokens are sorted by the experts that they take, and each expert's
// matrices are multiplied with its own rows alone; those without any are not read. What
// experts answer is added to a token in the order of their scores, the highest first. The
// router computes in float32, whatever Compute is.
//
// Adapters: each has a place, with its matrices in panels of float32. A
// step lays the rows of an adapter side by side and adds two products to those of the
// weights, each one sum over ascending k, so nothing said above changes. Rows without
// one are computed as where there are none.
//
// Memory: Plan says before anything is taken what New takes: packed weights, the
// KV pool, the host pool, the sequences' state, work space, places of adapters. All of
// it is mapped, weights and KV pool in huge pages where the system has them, and untouched
// until used. The host pool is memory like the pool's,
// beside it. A weight set stays the caller's, is read while it is loaded (rows of the embedding)
// and must not change. What is derived from it lies in one of Config.WeightSets places: Load
// takes the memory of a place that was never used, Drop leaves it for the next set, and
// sleeping weights give back that of all. What is told of tokens is the Result's memory.
//
// Sleep unmaps the pools or the packed weights or both, Wake maps and packs them again.
// Adapters stay, since nobody else has them.
//
// Profile: where Config.Profile is set, each thread notes the time at every barrier, and
// the step's work is counted behind it, without allocation; else there is a branch for
// each barrier. MeasureMachine says what the threads could reach.
//
// Concurrency: Load has a set packed between steps, by the threads that compute them, for
// an eighth of their time; while there is no step, its caller's goroutine packs. A step
// runs on all threads from end to end, on the goroutine that calls Finish and on workers of
// the executor, which meet at spinning barriers (package pool). Give GOMAXPROCS two more
// than threads: New does unless the environment sets it. The goroutine that calls Finish is
// best locked to its thread, and must be for Config.Pin.
package cpuexec
