// Who touched shared memory last, byte by byte: races that no barrier orders are found in
// whatever order threads run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptx {

// Two accesses of a byte race if one is a write, they are of different threads, and nothing orders
// them: no barrier of the block, nor, of two lanes of a warp, a collective of the warp.
class Shadow {
public:
	Shadow(size_t bytes, int threads) : bytes_(bytes), warps_((threads + 31) / 32, 1) {}
	void barrier() { interval_++; }
	void collective(int warp) { warps_[warp]++; }
	// touch notes an access of n bytes, and tells whether it races with an earlier one.
	bool touch(uint64_t at, int n, int thread, bool write);
	// hold notes a copy that writes n bytes at any time until it is released: whoever touches them meanwhile races with it.
	void hold(uint64_t at, int n);
	void release(uint64_t at, int n);

private:
	struct Access {
		int thread = -1;
		uint32_t interval = 0, warp = 0; // since barriers and collectives
	};
	// Byte has the last write, and the last reads of two warps.
	struct Byte {
		Access write, read, other;
		int copies = 0; // that hold it
	};
	bool unordered(const Access &a, int thread) const {
		if (a.thread < 0 || a.thread == thread || a.interval != interval_) return false;
		return a.thread / 32 != thread / 32 || a.warp == warps_[thread / 32];
	}
	void note_read(Byte &b, const Access &now);

	std::vector<Byte> bytes_;
	std::vector<uint32_t> warps_; // collectives so far, of each
	uint32_t interval_ = 1;
};

} // namespace ptx
