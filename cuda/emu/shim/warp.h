// Collectives of a warp: shuffles, votes, __syncwarp.
#pragma once
#include "block.h"

namespace shim {

constexpr unsigned all_lanes = 0xffffffffu;
enum Collective { sync_op = 1, xor_op, down_op, up_op, index_op, vote_op, product_op };

// meet waits until all lanes of the mask are in the same collective. The last one calls
// finish; then all go on. It returns the parity whose slots hold what the lanes brought.
inline int meet(int op, unsigned mask, void (*finish)(Warp *, int) = nullptr) {
	Fiber *f = block->current;
	Warp *w = f->warp;
	int parity = w->parity;
	if (!(mask >> f->lane & 1)) fail("lane is not in its own mask", f->lane);
	if (w->arrived && (w->mask != mask || w->op != op)) fail("divergent warp collective: operation or mask differ", w->op, op);
	w->mask = mask;
	w->op = op;
	w->arrived |= 1u << f->lane;
	if (w->arrived != mask) {
		yield();
		return parity;
	}
	if (finish) finish(w, parity);
	w->arrived = 0;
	w->parity ^= 1;
	Fiber *first = f - f->lane;
	for (int l = 0; l < 32 && first + l < block->fibers.data() + block->fibers.size(); l++)
		if (mask >> l & 1) first[l].waits = false;
	return parity;
}

// bring leaves a value for the other lanes.
template <class T> inline void bring(T v) {
	static_assert(sizeof(T) <= 8, "a shuffle moves eight bytes at most");
	Fiber *f = block->current;
	memcpy(f->warp->slot[f->warp->parity][f->lane], &v, sizeof v);
}

// shuffle is the value of lane from, or the lane's own where from is no lane.
template <class T> inline T shuffle(int op, unsigned mask, T v, int from) {
	Fiber *f = block->current;
	bring(v);
	int parity = meet(op, mask);
	if (from < 0 || from > 31) return v;
	if (!(mask >> from & 1)) fail("shuffle reads a lane outside the mask", from);
	memcpy(&v, f->warp->slot[parity][from], sizeof v);
	return v;
}

// ballot has a bit for each lane of the mask that brought something else than 0.
inline unsigned ballot(unsigned mask, int v) {
	Fiber *f = block->current;
	bring(v);
	int parity = meet(vote_op, mask);
	unsigned bits = 0;
	for (int l = 0; l < 32; l++)
		if (mask >> l & 1 && f->warp->slot[parity][l][0]) bits |= 1u << l;
	return bits;
}

} // namespace shim

#define __syncwarp(...) shim::meet(shim::sync_op, shim::all_lanes)
#define __shfl_xor_sync(m, v, o) shim::shuffle(shim::xor_op, m, v, shim::block->current->lane ^ (o))
#define __shfl_down_sync(m, v, o) shim::shuffle(shim::down_op, m, v, shim::block->current->lane + (int)(o))
#define __shfl_up_sync(m, v, o) shim::shuffle(shim::up_op, m, v, shim::block->current->lane - (int)(o))
#define __shfl_sync(m, v, s) shim::shuffle(shim::index_op, m, v, (s) & 31)
#define __ballot_sync(m, v) shim::ballot(m, v)
#define __any_sync(m, v) (shim::ballot(m, v) != 0)
#define __all_sync(m, v) (shim::ballot(m, v) == (m))
