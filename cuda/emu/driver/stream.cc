// Streams. Lazily, nothing is done until somebody waits: the latest schedule that is legal,
// in which each missing wait shows, every time.
#include "stream.h"

namespace fake {

std::set<CUstream_st *> streams;

CUresult usable(CUstream_st *s) {
	if (!streams.count(s)) return CUDA_ERROR_INVALID_HANDLE;
	return s->capture && s->origin->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

void put(CUstream_st *s, Work w) {
	if (s->capture) {
		s->capture->work.push_back(std::move(w));
		return;
	}
	s->queue.push_back(std::move(w));
	s->enqueued++;
	if (!driver.config.lazy) drain(s, s->enqueued);
}

void drain(CUstream_st *s, uint64_t upto) {
	while (s->done < upto && !s->queue.empty()) {
		Work w = std::move(s->queue.front());
		s->queue.pop_front();
		if (!driver.sticky) w.run(); // after a fault nothing runs any more
		s->done++;
	}
}

void drain_all() {
	for (CUstream_st *s : streams) drain(s, s->enqueued);
}

static bool overlaps(const std::deque<Work> &queue, const char *p, size_t n) {
	for (const Work &w : queue)
		if (w.bytes && (const char *)w.host < p + n && p < (const char *)w.host + w.bytes) return true;
	return false;
}

bool pending(const void *p, size_t n) {
	for (CUstream_st *s : streams)
		if (overlaps(s->queue, (const char *)p, n)) return true;
	return false;
}

} // namespace fake

using fake::driver;

API cuStreamCreate(CUstream *s, unsigned flags) {
	NEED_CONTEXT;
	if (flags & ~CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
	*s = new CUstream_st;
	(*s)->flags = flags;
	fake::streams.insert(*s);
	driver.counts.handles++;
	return CUDA_SUCCESS;
}

API cuStreamDestroy_v2(CUstream s) {
	NEED_CONTEXT;
	TRY(fake::usable(s));
	if (s->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	fake::drain(s, s->enqueued);
	for (CUevent_st *e : fake::events)
		if (e->stream == s) e->stream = nullptr; // what it was recorded behind is done
	fake::streams.erase(s);
	driver.counts.handles--;
	delete s;
	return CUDA_SUCCESS;
}

API cuStreamSynchronize(CUstream s) {
	NEED_CONTEXT;
	TRY(fake::usable(s));
	if (s->capture) {
		s->origin->broken = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	driver.counts.waits++;
	fake::drain(s, s->enqueued);
	return driver.sticky;
}
