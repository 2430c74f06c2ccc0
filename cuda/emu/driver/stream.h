// Streams, events and graphs of the fake driver.
#pragma once
#include "driver.h"
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

// Work is one entry of a stream: a copy, a launch, a wait.
struct Work {
	std::function<void()> run;
	std::function<bool()> ready; // a hasty driver may do it before somebody waits; empty: never

	// Of a copy, the pinned memory that it reads or writes, which must last until it is done.
	const void *host = nullptr;
	size_t bytes = 0;
	bool reads = false;  // it must stay as it is, too:
	bool summed = false; // this was its sum when the copy was enqueued
	uint64_t sum = 0;
};

struct CUgraph_st {
	std::vector<Work> work;
};

struct CUgraphExec_st {
	std::vector<Work> work;
	long stream = -1; // the number of the one to which it was launched last, and behind how much it is done
	uint64_t until = 0;
};

struct CUstream_st {
	long number = 0; // streams are counted as they are made
	std::deque<Work> queue;
	uint64_t enqueued = 0, done = 0;
	unsigned flags = 0;

	// While a capture has the stream:
	CUgraph_st *capture = nullptr;
	CUstream_st *origin = nullptr;    // where the capture began; itself there
	std::set<CUstream_st *> unjoined; // of an origin: streams that did not come back yet
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
	std::thread::id thread; // that began it
	bool broken = false;    // by a call that no capture allows
};

struct CUevent_st {
	CUstream_st *stream = nullptr; // where it was recorded, and behind how much
	uint64_t at = 0;
	CUgraph_st *capture = nullptr; // it was recorded in
	CUstream_st *captured = nullptr;
	bool timing = false;
	std::shared_ptr<double> milliseconds;
};

namespace fake {

extern std::set<CUstream_st *> streams;
// in_order are the streams as they were made, which addresses are not: each run of a test is the same.
std::vector<CUstream_st *> in_order();
extern std::set<CUevent_st *> events;

// usable answers how a call may not use the stream now.
CUresult usable(CUstream_st *s);
// put enqueues work, or adds it to the stream's capture.
void put(CUstream_st *s, Work w);
// drain does the work of a stream until so much is done.
void drain(CUstream_st *s, uint64_t upto);
void drain_all();
// wait does it, and hastily all other work before that.
void wait(CUstream_st *s, uint64_t upto);
// unsafe_call answers whether a capture forbids calls that take memory or wait, and breaks it.
CUresult unsafe_call();
// pending tells whether work that is not done names memory of the process in this range; or, of that, writes to it.
bool pending(const void *p, size_t n, bool written);

} // namespace fake
