// The state of the fake driver: one device on the CPU.
#pragma once
#include "../shim/runner.h"
#include "api.h"
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace fake {

// Schedule says when work is done. All of them are legal.
enum Schedule {
	lazy,  // when somebody waits for it
	eager, // when it is enqueued
	hasty, // copies as soon as what their stream waits for is done; kernels when somebody waits for anything, what he does not wait for first
};

// Config is what a test asks of the driver before cuInit.
struct Config {
	std::string runner;           // library that runs kernels
	std::string ptx;              // file that it interprets; empty: it has the kernels compiled
	Schedule schedule = lazy;     // when work is done
	bool protect = false;         // device memory cannot be touched outside of the driver's work
	int order = 0;                // of threads in blocks
	int version = 13000;          // of CUDA
	int devices = 1;
	int major = 9, minor = 0;     // compute capability
	size_t memory = 4ull << 30;   // bytes of the device
};

// Counts are what a test may ask about.
struct Counts {
	long launches, graphs, copies, waits; // done, or called, so far
	long allocations;                     // live, of the device and pinned ones
	long handles;                         // live streams, events, graphs, modules
};

struct Driver {
	std::recursive_mutex mutex;
	Config config;
	Counts counts = {};
	bool initialised = false;
	int retained = 0;                // of the primary context
	CUresult sticky = CUDA_SUCCESS;  // a fault of a kernel, which all later calls tell
	void *runner = nullptr;          // what runner_open gave
	decltype(&runner_params) params = nullptr;
	decltype(&runner_launch) launch = nullptr;
};

extern Driver driver;
extern thread_local CUcontext current; // of this thread

// complain tells a tester what a real driver would hide or crash at.
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

inline CUresult ready() { return driver.initialised ? driver.sticky : CUDA_ERROR_NOT_INITIALIZED; }

inline CUresult ready_context() {
	if (CUresult r = ready()) return r;
	return current && driver.retained ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

} // namespace fake

// CONTROL is a function of the fake's own, which a real driver has not.
#define CONTROL extern "C" __attribute__((visibility("default")))
#define LOCK std::lock_guard<std::recursive_mutex> lock(fake::driver.mutex)
#define TRY(e) \
	if (CUresult try_result = (e)) return try_result
#define NEED_CONTEXT \
	LOCK;        \
	TRY(fake::ready_context())
