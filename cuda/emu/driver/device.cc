// Initialisation, devices and the primary context.
#include "driver.h"
#include "stream.h"
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace fake {

Driver driver;
thread_local CUcontext current;

void complain(const char *format, ...) {
	va_list args;
	va_start(args, format);
	fputs("fake driver: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

// open_runner opens the runner that the test has named, in this process or, where nobody has
// configured the driver, in the environment.
static CUresult open_runner() {
	const char *named = getenv("FAKE_CUDA_RUNNER");
	if (driver.config.runner.empty() && named) driver.config.runner = named;
	void *h = dlopen(driver.config.runner.c_str(), RTLD_NOW | RTLD_LOCAL);
	if (!h) {
		complain("%s", dlerror());
		return CUDA_ERROR_NO_DEVICE;
	}
	auto open = (decltype(&runner_open))dlsym(h, "runner_open");
	driver.params = (decltype(driver.params))dlsym(h, "runner_params");
	driver.launch = (decltype(driver.launch))dlsym(h, "runner_launch");
	driver.runner = open(driver.config.ptx.c_str());
	return driver.runner ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

static bool has(CUdevice d) { return d >= 0 && d < driver.config.devices; }

} // namespace fake

using fake::driver;

API cuInit(unsigned flags) {
	LOCK;
	if (flags) return CUDA_ERROR_INVALID_VALUE;
	if (driver.initialised) return CUDA_SUCCESS;
	if (!driver.config.devices) return CUDA_ERROR_NO_DEVICE;
	TRY(fake::open_runner());
	driver.initialised = true;
	return CUDA_SUCCESS;
}

API cuDriverGetVersion(int *version) {
	*version = driver.config.version;
	return CUDA_SUCCESS;
}

API cuDeviceGetCount(int *n) {
	LOCK;
	TRY(fake::ready());
	*n = driver.config.devices;
	return CUDA_SUCCESS;
}

API cuDeviceGet(CUdevice *d, int ordinal) {
	LOCK;
	TRY(fake::ready());
	if (!fake::has(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
	*d = ordinal;
	return CUDA_SUCCESS;
}

API cuDeviceGetName(char *name, int n, CUdevice d) {
	LOCK;
	TRY(fake::ready());
	if (!fake::has(d)) return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, n, "CPU as a GPU");
	return CUDA_SUCCESS;
}

API cuDeviceGetUuid_v2(CUuuid *id, CUdevice d) {
	LOCK;
	TRY(fake::ready());
	if (!fake::has(d)) return CUDA_ERROR_INVALID_DEVICE;
	for (int i = 0; i < 16; i++) id->bytes[i] = (char)(16 * d + i);
	return CUDA_SUCCESS;
}

API cuDeviceTotalMem_v2(size_t *bytes, CUdevice d) {
	LOCK;
	TRY(fake::ready());
	if (!fake::has(d)) return CUDA_ERROR_INVALID_DEVICE;
	*bytes = driver.config.memory;
	return CUDA_SUCCESS;
}

API cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
	LOCK;
	TRY(fake::ready());
	if (!fake::has(d)) return CUDA_ERROR_INVALID_DEVICE;
	switch (a) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *v = driver.config.major; break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *v = driver.config.minor; break;
	default: return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
	LOCK;
	TRY(fake::ready());
	if (!fake::has(d)) return CUDA_ERROR_INVALID_DEVICE;
	*c = (CUcontext)(uintptr_t)(0x1000 + d); // a handle, never followed
	driver.retained++;
	return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(CUdevice d) {
	LOCK;
	if (!driver.initialised) return CUDA_ERROR_NOT_INITIALIZED;
	if (!fake::has(d)) return CUDA_ERROR_INVALID_DEVICE;
	if (!driver.retained) return CUDA_ERROR_INVALID_CONTEXT;
	driver.retained--;
	return CUDA_SUCCESS;
}

API cuCtxSetCurrent(CUcontext c) {
	LOCK;
	if (!driver.initialised) return CUDA_ERROR_NOT_INITIALIZED;
	if (c && !driver.retained) return CUDA_ERROR_INVALID_CONTEXT;
	fake::current = c;
	return driver.sticky; // it may tell the failure of earlier work
}

API cuCtxSynchronize(void) {
	NEED_CONTEXT;
	TRY(fake::unsafe_call());
	driver.counts.waits++;
	fake::drain_all();
	return driver.sticky;
}
