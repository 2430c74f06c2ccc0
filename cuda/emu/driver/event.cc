// Events, also those that join streams of a capture.
#include "stream.h"
#include <chrono>

namespace fake {

std::set<CUevent_st *> events;

static double now() {
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// join makes a stream wait for an event that was recorded in a capture: the first time it
// becomes a part of the capture, and the origin's wait brings the event's stream back.
static CUresult join(CUstream_st *s, CUevent_st *e) {
	CUstream_st *origin = e->captured->origin;
	if (!origin) return CUDA_ERROR_CAPTURED_EVENT; // the capture has ended
	if (s->capture && s->capture != e->capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
	if (!s->capture) {
		s->capture = e->capture;
		s->origin = origin;
		origin->unjoined.insert(s);
	} else if (s == origin) {
		origin->unjoined.erase(e->captured);
	}
	return CUDA_SUCCESS;
}

} // namespace fake

using fake::driver;

API cuEventCreate(CUevent *e, unsigned flags) {
	NEED_CONTEXT;
	if (flags & ~(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING)) return CUDA_ERROR_INVALID_VALUE;
	*e = new CUevent_st;
	(*e)->timing = !(flags & CU_EVENT_DISABLE_TIMING);
	fake::events.insert(*e);
	driver.counts.handles++;
	return CUDA_SUCCESS;
}

API cuEventDestroy_v2(CUevent e) {
	NEED_CONTEXT;
	if (!fake::events.erase(e)) return CUDA_ERROR_INVALID_HANDLE;
	driver.counts.handles--;
	delete e;
	return CUDA_SUCCESS;
}

API cuEventRecord(CUevent e, CUstream s) {
	NEED_CONTEXT;
	if (!fake::events.count(e)) return CUDA_ERROR_INVALID_HANDLE;
	TRY(fake::usable(s));
	e->capture = s->capture;
	e->captured = s->capture ? s : nullptr;
	if (s->capture) return CUDA_SUCCESS;
	auto at = std::make_shared<double>(0);
	e->milliseconds = at;
	e->stream = s;
	e->at = s->enqueued + 1;
	fake::put(s, {[at] { *at = fake::now(); }, [] { return true; }});
	return CUDA_SUCCESS;
}

API cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags) {
	NEED_CONTEXT;
	if (flags) return CUDA_ERROR_INVALID_VALUE;
	if (!fake::events.count(e)) return CUDA_ERROR_INVALID_HANDLE;
	TRY(fake::usable(s));
	if (e->capture) return fake::join(s, e);
	if (s->capture) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	CUstream_st *of = e->stream;
	if (!of) return CUDA_SUCCESS;
	uint64_t at = e->at;
	auto there = [of] { return fake::streams.count(of) > 0; };
	fake::put(s, {[=] {
		if (there()) fake::drain(of, at);
	}, [=] { return !there() || of->done >= at; }});
	return CUDA_SUCCESS;
}

API cuEventSynchronize(CUevent e) {
	NEED_CONTEXT;
	if (!fake::events.count(e)) return CUDA_ERROR_INVALID_HANDLE;
	if (e->capture) return CUDA_ERROR_CAPTURED_EVENT;
	if (e->stream)
		fake::wait(e->stream, e->at);
	else
		driver.counts.waits++; // for what was never recorded
	return driver.sticky;
}

API cuEventQuery(CUevent e) {
	NEED_CONTEXT;
	if (!fake::events.count(e)) return CUDA_ERROR_INVALID_HANDLE;
	if (e->capture) return CUDA_ERROR_CAPTURED_EVENT;
	if (!e->stream || e->stream->done >= e->at) return driver.sticky;
	fake::drain(e->stream, e->stream->done + 1); // time goes on, or who polls would wait for ever
	return CUDA_ERROR_NOT_READY;
}

API cuEventElapsedTime(float *ms, CUevent from, CUevent to) {
	NEED_CONTEXT;
	for (CUevent e : {from, to}) {
		if (!fake::events.count(e) || !e->timing || !e->milliseconds) return CUDA_ERROR_INVALID_HANDLE;
		if (e->stream && e->stream->done < e->at) return CUDA_ERROR_NOT_READY;
	}
	*ms = *to->milliseconds - *from->milliseconds;
	return CUDA_SUCCESS;
}
