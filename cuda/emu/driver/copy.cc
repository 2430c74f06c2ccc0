// Copies and fills. Of memory that is not pinned the driver is done when the call returns.
#include "memory.h"
#include "stream.h"
#include <cstring>

using fake::driver;

static bool at_once() { return true; }

static CUresult host_copy(CUstream s, void *to, const void *from, size_t n, const void *host) {
	TRY(fake::usable(s));
	bool pinned = fake::within(host, n, false);
	// A driver captures memory that is not pinned as well; nobody can mean it, since a replay would read what lies there then.
	if (!pinned && s->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	Work w = {[=] {
		fake::Touch touch;
		driver.counts.copies++;
		memcpy(to, from, n);
	}, at_once};
	if (pinned) {
		w.host = host;
		w.bytes = n;
		w.reads = host == from;
	}
	fake::put(s, w);
	if (!pinned) fake::drain(s, s->enqueued);
	return driver.sticky;
}

API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) {
	NEED_CONTEXT;
	if (!n) return CUDA_SUCCESS;
	if (!fake::within((void *)to, n, true)) return CUDA_ERROR_INVALID_VALUE;
	return host_copy(s, (void *)to, from, n, from);
}

API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) {
	NEED_CONTEXT;
	if (!n) return CUDA_SUCCESS;
	if (!fake::within((void *)from, n, true)) return CUDA_ERROR_INVALID_VALUE;
	return host_copy(s, to, (void *)from, n, to);
}

API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
	NEED_CONTEXT;
	if (!n) return CUDA_SUCCESS;
	if (!fake::within((void *)to, n, true) || !fake::within((void *)from, n, true)) return CUDA_ERROR_INVALID_VALUE;
	TRY(fake::usable(s));
	fake::put(s, {[=] {
		fake::Touch touch;
		driver.counts.copies++;
		memmove((void *)to, (void *)from, n);
	}, at_once});
	return driver.sticky;
}

API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream s) {
	NEED_CONTEXT;
	if (!n) return CUDA_SUCCESS;
	if (!fake::within((void *)to, n, true)) return CUDA_ERROR_INVALID_VALUE;
	TRY(fake::usable(s));
	fake::put(s, {[=] {
		fake::Touch touch;
		memset((void *)to, value, n);
	}, at_once});
	return driver.sticky;
}
