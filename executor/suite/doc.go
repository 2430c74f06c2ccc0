// Package suite is the conformance suite: what every executor.Executor must do,
// whatever its model. It knows no right token, so it compares runs with runs: the
// same requests alone and together, in chunks of any size, over other blocks, by
// way of the host pool, with one step handed over or two, must give the same tokens,
// and tell the same of them. A Processor must see its own sequence, and fail alone.
//
// Run is the suite; BadRow is the part for executors that can be given a row that
// fails, RunAdapters, RunSets and RunSleep those for executors that are an Adapters, a
// Loader and a Sleeper. Ownership: an executor belongs to the test that made it. Concurrency:
// one goroutine, but for the test that closes while Finish waits.
package suite
