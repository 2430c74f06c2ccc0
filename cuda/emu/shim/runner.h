// What runs kernels behind the fake driver: the shim's build of the sources, or the
// interpreter of the compiler's PTX. Both have these functions.
#pragma once
#include <cstddef>

#define RUNNER __attribute__((visibility("default")))

extern "C" {

struct RunnerRange {
	const void *base;
	size_t size;
};

struct RunnerLaunch {
	const char *kernel;
	unsigned grid[3], block[3];
	size_t shared;  // bytes asked for by the launch
	int order;      // of threads: 0 forward, 1 backward, else random with this seed
	void **params;  // addresses of the parameters
	const RunnerRange *memory; // what kernels may touch, in ascending order
	size_t ranges;
};

enum RunnerResult { runner_done, runner_failed, runner_illegal, runner_misaligned };

// runner_open opens what runs kernels. The interpreter reads a file of PTX, and answers null where
// it cannot, with the reason on standard error. Nothing closes it.
RUNNER void *runner_open(const char *ptx);

// runner_params writes the sizes of a kernel's parameters, at most max, and answers how
// many there are, -1: no such kernel.
RUNNER int runner_params(void *runner, const char *kernel, size_t *sizes, int max);

// runner_launch runs a kernel to its end. Else error says what was wrong, in at most n bytes.
RUNNER enum RunnerResult runner_launch(void *runner, const struct RunnerLaunch *l, char *error, size_t n);
}
