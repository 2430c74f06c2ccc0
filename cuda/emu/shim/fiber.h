// A fiber: a thread of a kernel, which runs until it waits for others. x86-64.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace shim {

struct Dim {
	unsigned x, y, z;
	unsigned count() const { return x * y * z; }
};

// AsyncCopy is a cp.async that was issued and is not done yet.
struct AsyncCopy {
	void *to;
	const void *from; // null: zeros
	int group;
};

struct Warp;

struct Fiber {
	void *stack_top; // of what it has saved, while it does not run
	Dim index;
	int lane;
	Warp *warp;
	bool done, waits;
	std::vector<AsyncCopy> copies; // in order of issue
	int groups;                    // of copies, committed
};

// switch_to saves the callee's registers and the stack in *saved and goes on at to.
extern "C" void shim_switch(void **saved, void *to);

// Stacks are a page's multiple and some cache lines apart, lest the tops of all share a set of the cache.
constexpr size_t stack_size = (64 << 10) + 17 * 64;
constexpr int max_threads = 1024; // of a block, as on a GPU
constexpr uint64_t stack_mark = 0x5aafe57ac0ffee00;

// Stacks are the memory for the fibers of one OS thread.
struct Stacks {
	unsigned char *base;
	Stacks() {
		base = (unsigned char *)mmap(nullptr, stack_size * max_threads, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (base == MAP_FAILED) abort();
	}
	~Stacks() { munmap(base, stack_size * max_threads); }
	uint64_t &mark(int i) { return *(uint64_t *)(base + stack_size * i); }
	// prepare lays out stack i so that the first switch to it calls entry, on a stack
	// aligned as a call leaves it.
	void *prepare(int i, void (*entry)()) {
		mark(i) = stack_mark;
		void **p = (void **)(((uintptr_t)base + stack_size * (i + 1)) & ~uintptr_t(63));
		*--p = nullptr; // where entry would return to
		*--p = (void *)entry;
		for (int saved = 0; saved < 6; saved++) *--p = nullptr;
		return p;
	}
};

} // namespace shim
