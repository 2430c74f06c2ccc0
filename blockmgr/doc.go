// Package blockmgr keeps the books of the KV cache: which block belongs to which
// sequence, which is free, which is idle but still holds tokens that somebody may
// ask for again, and which still drains because a step in flight may touch it. It
// moves no bytes.
//
// Purpose: one call a step, Manager.Reserve. The scheduler says what is done,
// what it releases, what it wants next and whom it would give up for it; policy
// (order, victims) is the scheduler's, arithmetic (fit, match, cut) is done here.
//
// Vocabulary: a page is PageSize tokens of one layer; a block is one page for
// every layer of one attention kind, the unit a sequence owns. A sequence has one
// block table per cache group (kind of attention).
//
// Groups have blocks of their own, or share memory by sectors: a sector holds a whole
// number of blocks of each, and belongs to the group that has opened it
// until none of its blocks is referenced or idle, or until another group needs it and
// none is referenced. A sequence that is alone and yet finds no sector, since its blocks
// are spread, gives itself up and has the memory for itself when it starts again.
//
// A group with a window has tables that begin late: when a step is done, blocks that
// lie wholly behind the window of what comes next leave them. Indexes of blocks are
// counted from the first position in every group. What left while its step ran is
// published even so.
//
// A block is free, referenced (by tables, or by a drain: a slot given back while a
// step in flight may touch it), or idle: published, referenced by nobody, least
// recently used first to be evicted when free ones run out. Idle counts as room.
//
// Sharing: when a step is done, the pages that it filled are published in a tree
// whose root is a salt and a weight epoch and whose edges are pages of tokens, so
// that what is found under a node has equal tokens from the first on; hashes only
// lead there. A new sequence takes the longest published beginning of its tokens,
// always leaving one to compute: all of it must be there in groups of full attention,
// its last window in the others, and no more is taken. When the page that it needs
// next is just being computed by another sequence, it waits for that one instead of
// computing it too. A private sequence publishes nothing, and nobody waits for it.
//
// A block belongs to the epoch of the step that wrote it. A sequence of whose cache two
// epochs wrote parts publishes nothing more from there on, and what an older epoch has
// written, and comes back from the host pool, is not published at all. Pages of older
// epochs are not found any more, and go as they fall out of use.
//
// Host is a second ledger, of the blocks in the host pool, with an owner of its own.
//
// Reserve.Empty makes the cache as new when nobody holds blocks of it: nothing that was
// published is found.
//
// Ownership: Manager alone frees. Reserve and Reserved belong to whoever received
// them last; slices inside a Reserved are valid until the next Reserve call.
//
// Concurrency: none. One goroutine uses a Manager; it has no goroutine, clock,
// log or IO of its own. Steady-state calls do not allocate.
package blockmgr
