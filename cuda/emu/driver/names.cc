// Names: of errors, and of the functions by version.
#include "driver.h"
#include <cstring>
#include <dlfcn.h>

static const std::map<unsigned, const char *> error_names = {
#define NAME(e) {e, #e}
	NAME(CUDA_SUCCESS),
	NAME(CUDA_ERROR_INVALID_VALUE),
	NAME(CUDA_ERROR_OUT_OF_MEMORY),
	NAME(CUDA_ERROR_NOT_INITIALIZED),
	NAME(CUDA_ERROR_NO_DEVICE),
	NAME(CUDA_ERROR_INVALID_DEVICE),
	NAME(CUDA_ERROR_INVALID_IMAGE),
	NAME(CUDA_ERROR_INVALID_CONTEXT),
	NAME(CUDA_ERROR_NO_BINARY_FOR_GPU),
	NAME(CUDA_ERROR_INVALID_PTX),
	NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
	NAME(CUDA_ERROR_INVALID_HANDLE),
	NAME(CUDA_ERROR_ILLEGAL_STATE),
	NAME(CUDA_ERROR_NOT_FOUND),
	NAME(CUDA_ERROR_NOT_READY),
	NAME(CUDA_ERROR_ILLEGAL_ADDRESS),
	NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
	NAME(CUDA_ERROR_MISALIGNED_ADDRESS),
	NAME(CUDA_ERROR_LAUNCH_FAILED),
	NAME(CUDA_ERROR_NOT_SUPPORTED),
	NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
	NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
	NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE),
	NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED),
	NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED),
	NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION),
	NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT),
	NAME(CUDA_ERROR_CAPTURED_EVENT),
	NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD),
#undef NAME
};

API cuGetErrorName(CUresult r, const char **name) {
	auto found = error_names.find(r);
	*name = found == error_names.end() ? nullptr : found->second;
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API cuGetProcAddress_v2(const char *name, void **found, int version, cuuint64_t, CUdriverProcAddressQueryResult *status) {
	Dl_info self;
	if (version != 12000 || !dladdr((void *)cuGetErrorName, &self)) return CUDA_ERROR_INVALID_VALUE; // the ABI that the fake has
	void *h = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	*found = nullptr;
	for (const char *suffix : {"_v2", ""}) // the newer one, as of CUDA 12.0
		if (!*found) *found = dlsym(h, (std::string(name) + suffix).c_str());
	dlclose(h);
	if (status) *status = *found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
