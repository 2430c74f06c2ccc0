// Package blockmgr keeps the books of the KV cache: which block belongs to which
// sequence, which is free, and which still drains because a step in flight may
// touch it. It moves no bytes.
//
// Purpose: one call a step, Manager.Reserve. The scheduler says what is done,
// what it releases, what it wants next and whom it would give up for it; policy
// (order, victims) is the scheduler's, arithmetic (fit, cut) is done here.
//
// Vocabulary: a page is Config.PageSize tokens of one layer; a block is one page
// for every layer of one attention kind, the unit a sequence owns. A sequence has
// one block table per cache group (kind of attention).
//
// Ownership: Manager alone frees. A released or preempted slot names the last
// step handed over that touches it; until that step is done its blocks drain.
// Reserve and Reserved belong to whoever received them last; slices inside a
// Reserved are valid until the next Reserve call.
//
// Concurrency: none. One goroutine uses a Manager; it has no goroutine, clock,
// log or IO of its own. Steady-state calls do not allocate.
package blockmgr
