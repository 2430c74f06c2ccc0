#include "shadow.h"

namespace ptx {

// note_read keeps reads of two different warps of an interval, of which a write of any thread
// meets at least one that is not of its own warp.
void Shadow::note_read(Byte &b, const Access &now) {
	if (b.read.interval == now.interval && b.read.thread >= 0 && b.read.thread / 32 != now.thread / 32) b.other = b.read;
	b.read = now;
}

bool Shadow::touch(uint64_t at, int n, int thread, bool write) {
	Access now = {thread, interval_, warps_[thread / 32]};
	for (uint64_t i = at; i < at + n; i++) {
		Byte &b = bytes_[i];
		if (b.copies || unordered(b.write, thread)) return true;
		if (!write) {
			note_read(b, now);
			continue;
		}
		if (unordered(b.read, thread) || unordered(b.other, thread)) return true;
		b.write = now;
	}
	return false;
}

void Shadow::hold(uint64_t at, int n) {
	for (uint64_t i = at; i < at + n; i++) bytes_[i].copies++;
}

void Shadow::release(uint64_t at, int n) {
	for (uint64_t i = at; i < at + n; i++) bytes_[i].copies--;
}

} // namespace ptx
