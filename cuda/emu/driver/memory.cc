// Allocations: aligned to 256 bytes as a device's, between pages that nobody may touch,
// and full of NaN.
#include "memory.h"
#include "stream.h"
#include <cstring>
#include <sys/mman.h>

namespace fake {

struct Allocation {
	char *map;
	size_t mapped, bytes;
	bool device;
};

constexpr size_t page = 4096;
static std::map<uintptr_t, Allocation> allocations;
static size_t used; // bytes of the device
static int touching;

static void protect_all(int how) {
	for (auto &a : allocations)
		if (a.second.device) mprotect(a.second.map + page, a.second.mapped - 2 * page, how);
}

Touch::Touch() {
	if (driver.config.protect && !touching++) protect_all(PROT_READ | PROT_WRITE);
}

Touch::~Touch() {
	if (driver.config.protect && !--touching) protect_all(PROT_NONE);
}

bool within(const void *p, size_t n, bool device) {
	auto next = allocations.upper_bound((uintptr_t)p);
	if (next == allocations.begin()) return false;
	auto &a = *--next;
	size_t offset = (uintptr_t)p - a.first;
	return a.second.device == device && offset <= a.second.bytes && n <= a.second.bytes - offset;
}

std::vector<RunnerRange> ranges() {
	std::vector<RunnerRange> all;
	for (auto &a : allocations) all.push_back({(const void *)a.first, a.second.bytes});
	return all;
}

static CUresult room(size_t n) {
	return n > driver.config.memory || used > driver.config.memory - n ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult reserve(size_t n) {
	TRY(room(n));
	used += n;
	return CUDA_SUCCESS;
}

void give_back(size_t n) { used -= n; }

// allocate takes memory whose end lies as near to the page behind it as the alignment lets it.
static CUresult allocate(uintptr_t *p, size_t n, bool device) {
	if (!n) return CUDA_ERROR_INVALID_VALUE;
	if (device) {
		TRY(room(n));
	}
	size_t body = (n + page - 1) & ~(page - 1);
	char *map = (char *)mmap(nullptr, body + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
	mprotect(map, page, PROT_NONE);
	mprotect(map + page + body, page, PROT_NONE);
	*p = (uintptr_t)(map + page + body - n) & ~uintptr_t(255);
	memset((void *)*p, 0xff, n);
	allocations[*p] = {map, body + 2 * page, n, device};
	driver.counts.allocations++;
	if (!device) return CUDA_SUCCESS;
	used += n;
	if (driver.config.protect && !touching) mprotect(map + page, body, PROT_NONE);
	return CUDA_SUCCESS;
}

static CUresult release(uintptr_t p, bool device) {
	auto found = allocations.find(p);
	if (found == allocations.end() || found->second.device != device) return CUDA_ERROR_INVALID_VALUE;
	Allocation a = found->second;
	if (device) drain_all(); // as cuMemFree does
	if (!device && pending((void *)p, a.bytes, false)) {
		complain("pinned memory was freed with a copy of it outstanding");
		driver.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
		return driver.sticky;
	}
	allocations.erase(p);
	driver.counts.allocations--;
	if (device) used -= a.bytes;
	munmap(a.map, a.mapped);
	return CUDA_SUCCESS;
}

} // namespace fake

using fake::driver;

API cuMemGetInfo_v2(size_t *free, size_t *total) {
	NEED_CONTEXT;
	*total = driver.config.memory;
	*free = driver.config.memory - fake::used;
	return CUDA_SUCCESS;
}

API cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
	NEED_CONTEXT;
	TRY(fake::unsafe_call());
	uintptr_t at;
	TRY(fake::allocate(&at, n, true));
	*p = at;
	return CUDA_SUCCESS;
}

API cuMemFree_v2(CUdeviceptr p) {
	NEED_CONTEXT;
	TRY(fake::unsafe_call());
	return fake::release(p, true);
}

API cuMemHostAlloc(void **p, size_t n, unsigned) {
	NEED_CONTEXT;
	TRY(fake::unsafe_call());
	return fake::allocate((uintptr_t *)p, n, false);
}

API cuMemFreeHost(void *p) {
	NEED_CONTEXT;
	return fake::release((uintptr_t)p, false);
}
