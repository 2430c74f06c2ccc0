// Runs the fibers of a block: one warp as far as it can, then the next, so that a missing
// barrier shows; in an order that the launch chooses.
#pragma once
#include "block.h"
#include <algorithm>
#include <random>

namespace shim {

class Schedule {
public:
	Schedule(int threads, int order) : threads_(threads), order_(order), random_(order), warps_((threads + 31) / 32) {
		for (size_t w = 0; w < warps_.size(); w++) warps_[w] = order == 1 ? warps_.size() - 1 - w : w;
	}
	// next_round is the order of warps from now on.
	const std::vector<int> &next_round() {
		if (order_ > 1) std::shuffle(warps_.begin(), warps_.end(), random_);
		return warps_;
	}
	int lanes(int warp) const { return std::min(32, threads_ - warp * 32); }
	// lane is which one of n is the i-th to run. Random orders xor, which needs no memory.
	int lane(int i, int n) const { return order_ == 1 ? n - 1 - i : order_ > 1 && n == 32 ? i ^ (order_ & 31) : i; }

private:
	int threads_, order_;
	std::mt19937 random_;
	std::vector<int> warps_;
};

// run_warp runs a warp's fibers until all wait or are done; it tells whether any ran. It stops at an error.
inline bool run_warp(Block &b, const Schedule &s, int warp) {
	int lanes = s.lanes(warp);
	bool any = false;
	for (bool again = true; again;) {
		again = false;
		for (int i = 0; i < lanes; i++) {
			Fiber &f = b.fibers[warp * 32 + s.lane(i, lanes)];
			if (f.done || f.waits) continue;
			any = again = true;
			b.current = &f;
			shim_switch(&b.scheduler, f.stack_top);
			if (!b.error.empty()) return true;
		}
	}
	return any;
}

// run_fibers runs a block that was prepared to its end, or to b.error.
inline void run_fibers(Block &b, Schedule &s) {
	while (b.exited < (int)b.fibers.size()) {
		bool any = false;
		for (int w : s.next_round()) {
			any |= run_warp(b, s, w);
			if (!b.error.empty()) return;
		}
		if (!any) b.error = "deadlock: every live thread waits (one of a mask has returned or never arrives)";
		if (!any) return;
	}
}

} // namespace shim
