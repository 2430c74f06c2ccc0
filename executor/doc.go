// Package executor is the contract between scheduling and computing: Batch goes
// in, Result comes out, Executor is who does it. It also has the ECHO executor,
// a stand-in whose next token depends on every KV slot it reads, the conformance
// suite that every executor passes, and what executors have in common: the geometry
// of caches in one memory, the size of the pool, the places of weight sets.
//
// An executor may be more: Adapters, which computes rows with LoRA adapters, each with
// that of its slot; Loader, which takes other weights while it runs; Sleeper, which gives
// memory back between steps. The suite has a part for each.
//
// Ownership: a Batch belongs to the scheduler until Start, to the executor until
// Finish returned its Result, then to the scheduler again. A Result belongs to
// whoever received it last (executor, scheduler, intake), one owner at a time,
// and goes back to its pool at the end.
//
// Concurrency: Start and Finish are each called from one goroutine, which may be
// two different ones. Info, Close and LoadAdapter may be called from anywhere,
// UnloadAdapter from Start's.
package executor
