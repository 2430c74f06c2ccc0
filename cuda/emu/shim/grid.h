// A launch of a kernel on the CPU.
#pragma once
#include "fiber.h"
#include <atomic>
#include <mutex>
#include <string>

namespace shim {

struct Grid {
	Dim blocks, threads;
	size_t shared;
	int order;
	void (*kernel)(void **);
	void **params;
	std::atomic<unsigned> next{0}; // block that nobody runs yet
	std::mutex mutex;
	std::string error; // of the first block that failed
};

// run_grid runs all blocks, or sets error.
void run_grid(Grid &g);

} // namespace shim
