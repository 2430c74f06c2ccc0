// Package ranks lets several executors compute one model together, each a part of every layer
// (tensor parallelism): the first has the scheduler's Batches, and all others get the same.
//
// Purpose: Executor is an executor.Executor over one executor for each rank, with everything an
// engine asks of one: weight sets, sleep, adapters happen on all ranks or on none. Exchange is
// how ranks in one process see each other's numbers.
//
// Nothing is decided twice: ranks get Batches, not requests. What they compute redundantly,
// the residual stream and the drawn tokens, they compute from the same numbers in the same
// order, so that all have the same bits.
//
// Failure: a rank that fails, or does not answer within the timeout, fails the step with its
// number, and all later ones; no other rank waits for it any longer.
//
// Ownership: an Executor owns the executors of its ranks and closes them. A Batch is every
// rank's until Finish returns.
//
// Concurrency: as package executor says. Each rank but the first has a goroutine that finishes
// its steps.
package ranks
