// A block's threads, one warp as far as it can go before the next, in the launch's order.
#include "machine.h"
#include <algorithm>
#include <cstring>
#include <random>

namespace ptx {

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

Machine::Machine(const Function &f, const RunnerLaunch &l)
	: f_(f), l_(l), shared_(round_up(f.shared, 128) + l.shared), shadow_(0, 0), count_(l.block[0] * l.block[1] * l.block[2]) {
	if (!f.param_sizes.empty()) params_.resize(f.param_offsets.back() + f.param_sizes.back());
	for (size_t p = 0; p < f.param_sizes.size(); p++) memcpy(&params_[f.param_offsets[p]], l.params[p], f.param_sizes[p]);
	threads_.resize(count_);
}

void Machine::prepare(unsigned x, unsigned y, unsigned z) {
	std::fill(shared_.begin(), shared_.end(), 0xff);
	shadow_ = Shadow(shared_.size(), count_);
	for (int n = 0; n < count_; n++) {
		Thread &t = threads_[n];
		t.registers.assign(f_.registers, 0);
		t.local.assign(f_.local, 0xff);
		const unsigned bx = l_.block[0], by = l_.block[1];
		uint64_t special[specials] = {n % bx, n / bx % by, n / (bx * by), bx, by, l_.block[2], x, y, z, l_.grid[0], l_.grid[1], l_.grid[2], (uint64_t)n % 32};
		memcpy(t.special, special, sizeof special);
		t.number = n;
		t.at = t.groups = 0;
		t.wait = Wait::none;
		t.copies.clear();
	}
}

bool Machine::run_warp(int warp) {
	int n = std::min(32, count_ - warp * 32);
	bool any = false;
	for (bool again = true; again;) {
		again = false;
		for (int l = 0; l < n; l++) {
			Thread &t = threads_[warp * 32 + (l_.order == 1 ? n - 1 - l : l)];
			if (t.wait != Wait::none) continue;
			run_thread(t);
			again = true;
		}
		again |= meet(warp);
		any |= again;
	}
	return any;
}

bool Machine::alive() const {
	return std::any_of(threads_.begin(), threads_.end(), [](const Thread &t) { return t.wait != Wait::done; });
}

// release_barrier lets all go on when all have come to the same barrier.
bool Machine::release_barrier() {
	for (const Thread &t : threads_)
		if (t.wait != Wait::barrier) return false;
	for (Thread &t : threads_) {
		if (t.at != threads_[0].at) fault(runner_failed, "divergent barrier", f_.code[t.at], t);
		t.wait = Wait::none;
	}
	for (Thread &t : threads_) t.at++;
	shadow_.barrier();
	return true;
}

void Machine::run(unsigned x, unsigned y, unsigned z) {
	prepare(x, y, z);
	std::vector<int> warps((count_ + 31) / 32);
	for (size_t w = 0; w < warps.size(); w++) warps[w] = l_.order == 1 ? warps.size() - 1 - w : w;
	std::mt19937 random(l_.order);
	while (alive()) {
		bool any = false;
		if (l_.order > 1) std::shuffle(warps.begin(), warps.end(), random);
		for (int w : warps) any |= run_warp(w);
		any |= release_barrier();
		if (any) continue;
		const Thread &t = *std::find_if(threads_.begin(), threads_.end(), [](const Thread &t) { return t.wait != Wait::done; });
		fault(runner_failed, "deadlock or divergent collective: a thread waits for ever", f_.code[t.at], t);
	}
}

void Machine::fault(RunnerResult r, const char *what, const Instruction &i, const Thread &t) const {
	std::string at = " in block (" + std::to_string(t.special[ctaid_x]) + "," + std::to_string(t.special[ctaid_y]) + "," +
		std::to_string(t.special[ctaid_z]) + "), thread " + std::to_string(t.number) + ": ";
	throw Fault(r, what + at + f_.statements[i.text]);
}

} // namespace ptx
