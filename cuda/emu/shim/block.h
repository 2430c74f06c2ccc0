// A block of threads on the CPU: its shared memory, its barrier, and how it fails.
#pragma once
#include "fiber.h"
#include <cstdio>
#include <string>

namespace shim {

constexpr size_t max_shared = 227 << 10; // bytes of a block, with opt-in, on sm_90
constexpr int max_arrays = 256;          // SHARED arrays in a source

// Warp is what the lanes of a warp share while they meet in a collective.
struct Warp {
	unsigned arrived, mask;
	int op;
	int parity; // of the meeting: a lane may reach the next before others have read this one
	uint32_t slot[2][32][6];
	float product[2][16][8];
};

struct Block {
	Dim index, threads, grid;
	std::vector<Fiber> fibers;
	std::vector<Warp> warps;
	int arrived, exited, barrier_line;
	unsigned char *shared; // max_shared bytes
	size_t shared_used;
	void *arrays[max_arrays];
	void *scheduler; // its stack, while a fiber runs
	Fiber *current;
	void (*kernel)(void **);
	void **params;
	std::string error;
};

// The block that this OS thread runs.
extern __thread Block *block __attribute__((tls_model("initial-exec")));

// fail ends the block with an error; the fiber never runs again.
[[noreturn]] inline void fail(const char *what, int a = 0, int b = 0) {
	char text[256];
	const Dim &t = block->current->index;
	snprintf(text, sizeof text, "%s (%d, %d) in block (%u,%u,%u), thread (%u,%u,%u)", what, a, b,
		block->index.x, block->index.y, block->index.z, t.x, t.y, t.z);
	block->error = text;
	void *never;
	shim_switch(&never, block->scheduler);
	abort();
}

// yield lets others run until somebody has cleared waits.
inline void yield() {
	Fiber *f = block->current;
	f->waits = true;
	shim_switch(&f->stack_top, block->scheduler);
}

// barrier is __syncthreads.
inline void barrier(int line) {
	Block *b = block;
	if (b->exited) fail("__syncthreads after a thread of the block returned: line", line);
	if (b->arrived && b->barrier_line != line) fail("divergent __syncthreads: lines", b->barrier_line, line);
	b->barrier_line = line;
	if (++b->arrived < (int)b->fibers.size()) return yield();
	b->arrived = 0;
	for (Fiber &f : b->fibers) f.waits = false;
}

// shared_array is where SHARED array id of n bytes lies: the same for all threads. It begins as NaN.
inline void *shared_array(int id, size_t n) {
	Block *b = block;
	if (id >= max_arrays) fail("too many SHARED arrays in the source", id);
	if (!b->arrays[id]) {
		size_t rounded = (n + 127) & ~size_t(127);
		if (b->shared_used + rounded > max_shared) fail("shared memory over 227 KiB", (int)(b->shared_used + rounded));
		b->arrays[id] = b->shared + b->shared_used;
		b->shared_used += rounded;
		memset(b->arrays[id], 0xff, rounded);
	}
	return b->arrays[id];
}

} // namespace shim
