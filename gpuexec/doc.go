// Package gpuexec is the executor for NVIDIA GPUs: one forward pass for all families, by the options of a
// model.Config, over a paged cache, with weights and cache in bf16.
//
// Purpose: the contract of package executor by kernels of package cuda/kernels. A step is one input, a
// list of int32 that is copied to the device in one piece, and some kernels for each layer; what they
// compute of a token never depends on the rest of the batch, so batch, chunks and block ids never change
// a bit of the logits.
//
// Numbers: the residual stream, what products give, and attention's sums are in float32; what
// products take, queries, and the cache are in bf16. Norms, biases, sinks and routers are in float32.
//
// Weights: matrices that are stored as Q8_0, Q4_0 or Q4_1 stay packed, 34 or 20 bytes for 32 numbers, and
// products and the lookup of tokens use the very numbers. All others are bf16: floats, which
// Config.Quantize packs instead, and what there is no packed format for here: the K types, which are widened
// and rounded when they are copied to the device. Modules that are one matrix, q with k and v, gate with
// up, the experts of a layer, have one format: that of the module with the most bits. A set that is
// loaded later is put into the formats that are there.
//
// With Config.CublasLt products of more than 64 rows are NVIDIA's, whose order of sums depends on how many
// rows there are: then what a token gets depends on the batch, in the last bits.
//
// Adapters: each has a place, with its matrices in bf16. A step lays the rows of an adapter side by side, and
// computes what it adds to a product by two products more, over its ranks, beside the product itself; who reads
// the product adds that, in bf16, behind the bias, to the rows of slots with adapters and to no other.
//
// Steps: up to two are handed over. A goroutine that is locked to its thread, the launcher, enqueues a
// step as soon as the one before it needs the host no more; so the device never waits for the host while
// it draws all tokens itself. A token that the host does not know yet the device takes from where it has
// drawn it.
//
// Drawing: the device draws the token that package sampling draws, with penalties, biases, bans and all filters,
// and leaves the numbers that the host makes log-probabilities of, the same to the bit; likewise of ids of a
// prompt that are scored. For that it has the ids of sequences whose penalties or bans depend on them: Start's Batch
// brings those that are known, and it adds what it draws. What kernels.Draws does not know, rows with a Processor, with
// allowed ids, or that are told the ids kept or of more than kernels.MaxTold likely ones, are drawn from
// logits that Finish copies to the host; then the next step waits for Finish.
//
// Order: inputs are copied on one stream, kernels run on another, results are copied on a third, joined
// by events. What a step has of its own is there twice, and free again when its Finish has returned.
// Copies of blocks within the device run on the stream of the kernels, in the order of the Batch. Blocks go to
// the host and come back on a fourth stream, beside kernels. One that goes out is copied to staging memory
// first, in that order; a step waits only where all of that is in use. One that comes in waits for the rows
// of the steps before, and the next step for it, which is Info.Overlap.
//
// Graphs: a step of a kind that Config.Graphs names is padded, captured when its size is first seen, for the
// buffers of both steps at once, and replayed. Decoding tokens, their draws, and steps of up to 8 tokens are
// padded to powers of two up to 8, then to multiples of 8; tokens of longer steps to multiples of
// Config.QPadding, their draws, and all items of attention, to powers of two; contexts that blocks of threads
// share to multiples of Config.KVPadding. Scores, and what the host draws by, are computed behind the graph.
// To which products the adapters of a step add, its graph knows; which adapters they are, its input says.
// What is captured are addresses: of the buffers of one of the two steps, of a place for weights, of the pool.
// So sleep forgets all graphs, and a set that takes another's place has that one's. Graphs are captured while steps
// run; of more sizes than Plan leaves memory for, the one that was used longest ago goes before. It goes, too,
// where the driver has no memory for another one; if there is none even then, that size's kernels are launched
// one by one.
//
// Times: where Config.Timed is set, events on the stream of the kernels tell how long the device works in
// each step, and how long it waits between two.
//
// Memory: Plan says before anything is taken what New takes, from what the device has free, and what it
// leaves there for graphs. Everything is taken at once; a step allocates nothing, neither here nor there, but
// for a graph that it captures. A weight set stays the caller's, and is read while it is copied; places for
// sets stay the executor's when sets are dropped. Sleep gives back the pools or the places, Wake takes and
// fills them again. Adapters stay, since nobody else has them.
//
// Failure: an error of the driver, or a panic of a launch, fails the step and all later ones; whoever has it
// makes a new one. cuda.ErrDeviceLost says that this process must end for that. A row whose logits are not usable
// fails alone.
//
// Ownership and concurrency: as package executor says. The device's primary context is retained from New
// to Close. The launcher binds its thread, which ends with it. New, Finish, and those that load, sleep and
// wake bind the thread that they run on, which stays bound when they return: whoever calls the driver
// beside them binds a context of his own first. Load and LoadAdapter copy beside steps on a stream of their own, one after the
// other.
package gpuexec
