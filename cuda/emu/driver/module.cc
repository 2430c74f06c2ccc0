// Modules, and what a driver tells of kernels.
#include "module.h"
#include "stream.h"
#include <cstring>
#include <set>

namespace fake {

static std::set<CUmod_st *> modules;
constexpr int most_params = 64;

// matches tells whether the runner has the kernel with the parameters that the image says.
static bool matches(const CUfunc_st &f) {
	size_t sizes[most_params];
	int n = driver.params(driver.runner, f.name.c_str(), sizes, most_params);
	if (n < 0 || n > most_params) {
		complain("%s is in the module, but nothing here runs it", f.name.c_str());
		return false;
	}
	bool same = f.params.empty() || (int)f.params.size() == n;
	for (auto &p : f.params) same = same && p.first < n && p.second == sizes[p.first];
	if (!same) complain("%s: parameters of the module are not those of the source", f.name.c_str());
	return same;
}

} // namespace fake

using fake::driver;

API cuModuleLoadData(CUmodule *module, const void *image) {
	NEED_CONTEXT;
	TRY(fake::unsafe_call());
	auto m = std::make_unique<CUmod_st>();
	bool elf = !memcmp(image, "\177ELF", 4);
	TRY(elf ? fake::read_cubin((const unsigned char *)image, m.get()) : fake::read_ptx((const char *)image, m.get()));
	*module = m.release();
	fake::modules.insert(*module);
	driver.counts.handles++;
	return CUDA_SUCCESS;
}

API cuModuleUnload(CUmodule m) {
	NEED_CONTEXT;
	if (!fake::modules.erase(m)) return CUDA_ERROR_INVALID_HANDLE;
	fake::drain_all(); // a launch that is outstanding names its kernel
	driver.counts.handles--;
	delete m;
	return CUDA_SUCCESS;
}

API cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
	NEED_CONTEXT;
	if (!fake::modules.count(m)) return CUDA_ERROR_INVALID_HANDLE;
	auto found = m->functions.find(name);
	if (found == m->functions.end()) return CUDA_ERROR_NOT_FOUND;
	if (!fake::matches(*found->second)) return CUDA_ERROR_INVALID_IMAGE;
	*f = found->second.get();
	return CUDA_SUCCESS;
}

API cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
	NEED_CONTEXT;
	switch (a) {
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *v = f->shared; break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *v = f->local; break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS: *v = f->registers; break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *v = f->dynamic; break;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

API cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
	NEED_CONTEXT;
	if (a != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || v < 0 || v > fake::most_shared - f->shared) return CUDA_ERROR_INVALID_VALUE;
	f->dynamic = v;
	return CUDA_SUCCESS;
}
