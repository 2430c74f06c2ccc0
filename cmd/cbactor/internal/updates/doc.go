// Package updates measures what updates of the weights cost those who generate
// meanwhile: the gaps between tokens with and without them, and at the very tokens
// where new weights come in; the throughput; how fast weights are staged; and what updates
// in place cost, beside a plain copy.
//
// A Run begins with an update that does not count, since memory costs more when it is
// first used. Then it has three parts, one after another on one engine under one load: half of the
// quiet time, all updates, the other half. So what changes slowly, such as the machine's
// clock, is the same for both. At last the load is paused a few times, and some tensors are
// updated, after which caches are computed again. What is sent are the weights that serve: the work is
// that of new ones, and the tokens stay those of the model.
//
// Ownership: the engine and the set that is sent are the caller's; the set is read only.
//
// Concurrency: Run begins a goroutine for each request of the load and ends them all.
package updates
