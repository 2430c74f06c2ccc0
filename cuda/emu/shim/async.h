// cp.async: copies to shared memory that are done as late as they may be, when the thread
// waits for their group. One that is never waited for is never done.
#pragma once
#include "block.h"

namespace shim {

inline void finish_copies(int upto) {
	std::vector<AsyncCopy> &c = block->current->copies;
	size_t i = 0;
	for (; i < c.size() && c[i].group < upto; i++) {
		if (c[i].from) memcpy(c[i].to, c[i].from, 16);
		else memset(c[i].to, 0, 16);
	}
	c.erase(c.begin(), c.begin() + i);
}

} // namespace shim

// cp_async16 copies 16 bytes to shared memory, or writes as many zeros where valid is 0.
inline void cp_async16(void *shared, const void *global, int valid) {
	shim::Fiber *f = shim::block->current;
	if (((uintptr_t)shared | (uintptr_t)global) & 15) shim::fail("cp.async of 16 bytes that are not aligned to 16");
	f->copies.push_back({shared, valid ? global : nullptr, f->groups});
}

inline void cp_async_commit() { shim::block->current->groups++; }

// cp_async_wait waits until all groups but the last pending ones are done.
template <int pending> inline void cp_async_wait() { shim::finish_copies(shim::block->current->groups - pending); }
