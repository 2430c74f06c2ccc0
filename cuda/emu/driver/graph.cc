// Captures and graphs.
#include "memory.h"
#include "stream.h"

namespace fake {

CUresult unsafe_call() {
	for (CUstream_st *s : streams) {
		if (!s->capture || s->origin != s || s->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
		if (s->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && s->thread != std::this_thread::get_id()) continue;
		s->broken = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return CUDA_SUCCESS;
}

// memory_of is what an instantiated graph takes of the device: what a driver takes is not told.
static size_t memory_of(const std::vector<Work> &work) { return 2048 * work.size(); }

// running tells whether a graph was launched and is not done.
static bool running(CUgraphExec x) {
	for (CUstream_st *s : streams)
		if (s->number == x->stream) return s->done < x->until;
	return false;
}

// leave takes all streams out of the capture that began at s.
static void leave(CUstream_st *origin) {
	origin->unjoined.clear();
	for (CUstream_st *s : streams) {
		if (s->origin != origin) continue;
		s->capture = nullptr;
		s->origin = nullptr;
	}
}

} // namespace fake

using fake::driver;

API cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) {
	NEED_CONTEXT;
	TRY(fake::usable(s));
	if (s->capture) return CUDA_ERROR_ILLEGAL_STATE;
	s->capture = new CUgraph_st;
	driver.counts.handles++;
	s->origin = s;
	s->mode = mode;
	s->thread = std::this_thread::get_id();
	s->broken = false;
	return CUDA_SUCCESS;
}

API cuStreamEndCapture(CUstream s, CUgraph *g) {
	NEED_CONTEXT;
	*g = nullptr;
	if (!fake::streams.count(s)) return CUDA_ERROR_INVALID_HANDLE;
	if (!s->capture) return CUDA_ERROR_ILLEGAL_STATE;
	if (s->origin != s) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (s->mode != CU_STREAM_CAPTURE_MODE_RELAXED && s->thread != std::this_thread::get_id())
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	CUgraph_st *captured = s->capture;
	bool unjoined = !s->unjoined.empty();
	fake::leave(s);
	if (!s->broken && !unjoined) {
		*g = captured;
		return CUDA_SUCCESS;
	}
	delete captured;
	driver.counts.handles--;
	return s->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

API cuGraphInstantiateWithFlags(CUgraphExec *x, CUgraph g, unsigned long long flags) {
	NEED_CONTEXT;
	if (!g || flags) return CUDA_ERROR_INVALID_VALUE;
	TRY(fake::reserve(fake::memory_of(g->work)));
	*x = new CUgraphExec_st;
	(*x)->work = g->work;
	driver.counts.handles++;
	return CUDA_SUCCESS;
}

API cuGraphDestroy(CUgraph g) {
	NEED_CONTEXT;
	if (!g) return CUDA_ERROR_INVALID_VALUE;
	delete g;
	driver.counts.handles--;
	return CUDA_SUCCESS;
}

API cuGraphUpload(CUgraphExec x, CUstream s) {
	NEED_CONTEXT;
	if (!x) return CUDA_ERROR_INVALID_VALUE;
	return fake::usable(s);
}

API cuGraphLaunch(CUgraphExec x, CUstream s) {
	NEED_CONTEXT;
	if (!x) return CUDA_ERROR_INVALID_VALUE;
	TRY(fake::usable(s));
	if (s->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	driver.counts.graphs++;
	for (const Work &w : x->work) fake::put(s, w);
	x->stream = s->number;
	x->until = s->enqueued;
	return driver.sticky;
}

API cuGraphExecDestroy(CUgraphExec x) {
	NEED_CONTEXT;
	if (!x) return CUDA_ERROR_INVALID_VALUE;
	if (fake::running(x)) { // a driver would keep its memory until it is done
		fake::complain("a graph is destroyed that is not done");
		return CUDA_ERROR_ILLEGAL_STATE;
	}
	fake::give_back(fake::memory_of(x->work));
	delete x;
	driver.counts.handles--;
	return CUDA_SUCCESS;
}
