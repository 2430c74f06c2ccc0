// Package sched decides what runs in each step. It is a value with one method
// a kind of event; effects come out as values and are performed by the actor
// around it.
//
// A step goes like this. Scheduler.Plan asks for cache (a blockmgr.Reserve) when
// there is something to plan or something to give back; Scheduler.Reserved turns
// the answer into an executor.Batch; Scheduler.StepDone takes the step's tokens
// in and says which requests go on and which end, and why. At most one Reserve is
// out at a time, at most Config.Depth batches. When cache leaves for the host pool or
// comes back, Scheduler.Swap has what to ask of its ledger (blockmgr.Host), and the
// batch comes with the answer, from Scheduler.Swapped.
//
// Policy (fifo): every decoding sequence gets its token first, then prompts in
// order of age, in chunks, within the token budget. A waiting request starts when
// its whole prompt and one more token fit beside what the started ones still need
// for theirs; until then nothing younger starts. When a started sequence lacks a
// block, sequences behind it in line are given up for it, the cheapest first: each is
// computed again or goes to the host pool, whichever costs less and is possible. They
// keep their age and their tokens. So the oldest request always goes on, and nothing
// starves. Who comes back from the host gets its blocks and copies a step before its
// first row, where the executor's copies overlap with rows. Where cache reads are
// bounded, the oldest that a step had none left for goes first in the next one. Who
// waits and has a slot gives it up to who comes before it and has none.
//
// With prefill_first started prompts go before decoding sequences; with priority the
// place in line is the age and the priority together (Policy).
//
// The sequences of one request sample from its prompt's logits and hold its blocks,
// as far as slots last when the prompt is through; the others wait in line.
//
// Some requests are served otherwise. One that draws nothing ends when its prompt is
// through. One that is told of its prompt's log-probabilities takes no shared blocks
// until all are told; what a preemption makes it compute again is not told again. A
// private one takes none ever and leaves none. One with a processor is planned again
// only when its newest token is known.
//
// Weights change between two plans (Scheduler.Commit). Who has cache or tokens of older
// ones keeps the cache, is computed again, or ends, as the commit or the request says;
// Scheduler.Ended has whom commits have ended. Every token tells its weight epoch, and
// the epochs of the cache that it came from (Run).
//
// A gate says who may be in a step: all (Resume), what has begun and whoever is urgent
// (Finish), the urgent alone (Pause), nobody (Shut). Scheduler.Still tells when nobody
// goes on. Urgent requests are those of the holders of a pause: they go before all, and
// take slots and blocks of any other. GiveUpAll takes the cache from all and empties it,
// before the memory of it is given back.
//
// Scheduler.Waits and Scheduler.KeyOf say of a plan what a trace of it needs,
// Scheduler.Begun of a batch whom it starts.
//
// Ownership: the Reserve and the Batch that come out are the caller's until they
// come back (with Reserved, with StepDone). Token ids passed in belong to the
// scheduler from then on. A Result belongs to the Tokens that StepDone fills.
//
// Concurrency: none. One goroutine uses a Scheduler; it has no goroutine, clock,
// log or IO. The same events give the same plans, byte for byte. A steady-state
// step does not allocate.
package sched
