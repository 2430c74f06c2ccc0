// Launches: the checks of a driver, then the runner.
#include "memory.h"
#include "module.h"
#include "stream.h"
#include <cstring>

namespace fake {

constexpr int registers_of_multiprocessor = 65536;

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

// registers_of_block is what a block takes: warps take whole groups of 256.
static int registers_of_block(const CUfunc_st &f, int threads) { return round_up(f.registers, 8) * round_up(threads, 32); }

// Launch is a kernel's launch with its own copy of the arguments.
struct Launch {
	CUfunc_st *f;
	unsigned grid[3], block[3];
	size_t shared;
	std::vector<size_t> sizes;
	std::vector<unsigned char> args;

	// copy_args takes the arguments; the array ends with a null pointer.
	CUresult copy_args(void **params);
	void run() const;
};

CUresult Launch::copy_args(void **params) {
	sizes.resize(64);
	sizes.resize(driver.params(driver.runner, f->name.c_str(), sizes.data(), sizes.size()));
	args.resize(8 * sizes.size());
	for (size_t i = 0; i < sizes.size(); i++) {
		if (!params[i] || sizes[i] > 8) {
			complain("%s: launched with %zu arguments, and has %zu", f->name.c_str(), i, sizes.size());
			return CUDA_ERROR_INVALID_VALUE;
		}
		memcpy(&args[8 * i], params[i], sizes[i]);
	}
	if (params[sizes.size()]) {
		complain("%s: launched with more than its %zu arguments", f->name.c_str(), sizes.size());
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

void Launch::run() const {
	Touch touch;
	driver.counts.launches++;
	std::vector<void *> params;
	for (size_t i = 0; i < sizes.size(); i++) params.push_back((void *)&args[8 * i]);
	std::vector<RunnerRange> memory = ranges();
	RunnerLaunch l = {f->name.c_str(), {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, driver.config.order,
		params.data(), memory.data(), memory.size()};
	char error[400];
	RunnerResult r = driver.launch(driver.runner, &l, error, sizeof error);
	if (r == runner_done) return;
	complain("kernel %s: %s", f->name.c_str(), error);
	driver.sticky = r == runner_illegal ? CUDA_ERROR_ILLEGAL_ADDRESS : r == runner_misaligned ? CUDA_ERROR_MISALIGNED_ADDRESS : CUDA_ERROR_LAUNCH_FAILED;
}

// fits answers what of a launch no device can do.
static CUresult fits(const Launch &l) {
	const unsigned most_blocks[3] = {0x7fffffff, 65535, 65535}, most_threads[3] = {1024, 1024, 64};
	for (int i = 0; i < 3; i++)
		if (!l.grid[i] || l.grid[i] > most_blocks[i] || !l.block[i] || l.block[i] > most_threads[i]) return CUDA_ERROR_INVALID_VALUE;
	unsigned threads = l.block[0] * l.block[1] * l.block[2];
	if (threads > 1024 || l.shared > (size_t)l.f->dynamic) return CUDA_ERROR_INVALID_VALUE;
	return registers_of_block(*l.f, threads) > registers_of_multiprocessor ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

} // namespace fake

using fake::driver;

API cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s,
	void **params, void **extra) {
	NEED_CONTEXT;
	TRY(fake::usable(s));
	if (!f || extra) return CUDA_ERROR_INVALID_VALUE;
	auto l = std::make_shared<fake::Launch>(fake::Launch{f, {gx, gy, gz}, {bx, by, bz}, shared, {}, {}});
	TRY(fake::fits(*l));
	TRY(l->copy_args(params));
	fake::put(s, {[l] { l->run(); }, {}});
	return driver.sticky;
}
