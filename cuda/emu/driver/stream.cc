// Streams. Lazily, nothing is done until somebody waits: the latest schedule that is legal,
// in which each missing wait for a result shows, every time. Hastily, copies overtake the kernels
// of other streams, and what nobody waits for what somebody does, so that each missing wait for a
// reader shows.
#include "stream.h"
#include <algorithm>
#include <cstring>

namespace fake {

std::set<CUstream_st *> streams;

std::vector<CUstream_st *> in_order() {
	std::vector<CUstream_st *> all(streams.begin(), streams.end());
	std::sort(all.begin(), all.end(), [](CUstream_st *a, CUstream_st *b) { return a->number < b->number; });
	return all;
}

CUresult usable(CUstream_st *s) {
	if (!streams.count(s)) return CUDA_ERROR_INVALID_HANDLE;
	return s->capture && s->origin->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

// sum_of is of so many bytes, by the constants of FNV-1a over words.
static uint64_t sum_of(const void *p, size_t n) {
	uint64_t sum = 0xcbf29ce484222325, word = 0;
	const char *at = (const char *)p;
	for (; n >= 8; n -= 8, at += 8) {
		memcpy(&word, at, 8);
		sum = (sum ^ word) * 0x100000001b3;
	}
	word = 0;
	memcpy(&word, at, n);
	return (sum ^ word) * 0x100000001b3;
}

// changed tells, and complains, that somebody has written to what a copy is to read.
static bool changed(const Work &w) {
	if (!w.summed || sum_of(w.host, w.bytes) == w.sum) return false;
	complain("%zu pinned bytes were written to with a copy from them outstanding", w.bytes);
	return true;
}

static void run_first(CUstream_st *s) {
	Work w = std::move(s->queue.front());
	s->queue.pop_front();
	if (!driver.sticky && changed(w)) driver.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
	if (!driver.sticky) w.run(); // after a fault nothing runs any more
	s->done++;
}

// hurry does what may be done early, in all streams.
static void hurry() {
	for (bool moved = true; moved;) {
		moved = false;
		for (CUstream_st *s : in_order())
			for (; !s->queue.empty() && s->queue.front().ready && s->queue.front().ready(); moved = true) run_first(s);
	}
}

void put(CUstream_st *s, Work w) {
	if (s->capture) {
		s->capture->work.push_back(std::move(w));
		return;
	}
	if (w.reads && !pending(w.host, w.bytes, true)) {
		w.summed = true;
		w.sum = sum_of(w.host, w.bytes);
	}
	s->queue.push_back(std::move(w));
	s->enqueued++;
	if (driver.config.schedule == eager) drain(s, s->enqueued);
	if (driver.config.schedule == hasty) hurry();
}

void drain(CUstream_st *s, uint64_t upto) {
	while (s->done < upto && !s->queue.empty()) run_first(s);
}

void wait(CUstream_st *s, uint64_t upto) {
	driver.counts.waits++;
	if (driver.config.schedule == hasty) {
		for (CUstream_st *other : in_order())
			if (other != s) drain(other, other->enqueued);
		upto = s->enqueued;
	}
	drain(s, upto);
}

void drain_all() {
	for (CUstream_st *s : in_order()) drain(s, s->enqueued);
}

static bool overlaps(const Work &w, const char *p, size_t n) {
	return w.bytes && (const char *)w.host < p + n && p < (const char *)w.host + w.bytes;
}

bool pending(const void *p, size_t n, bool written) {
	for (CUstream_st *s : streams)
		for (const Work &w : s->queue)
			if (!(written && w.reads) && overlaps(w, (const char *)p, n)) return true;
	return false;
}

} // namespace fake

using fake::driver;

API cuStreamCreate(CUstream *s, unsigned flags) {
	NEED_CONTEXT;
	if (flags & ~CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
	*s = new CUstream_st;
	static long made;
	(*s)->flags = flags;
	(*s)->number = made++;
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
	fake::wait(s, s->enqueued);
	return driver.sticky;
}
