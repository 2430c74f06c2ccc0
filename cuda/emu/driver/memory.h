// Memory of the fake device.
#pragma once
#include "driver.h"
#include <cstdint>
#include <vector>

namespace fake {

// within tells whether n bytes at p lie in one allocation, of the device or pinned.
bool within(const void *p, size_t n, bool device);

// reserve takes memory of the device that nobody has an address of; give_back gives it back.
CUresult reserve(size_t n);
void give_back(size_t n);

// Touch lets the device's memory be touched while it lives, where it is protected.
class Touch {
public:
	Touch();
	~Touch();
};

// ranges are what kernels may touch: memory of the device, and pinned memory.
std::vector<RunnerRange> ranges();

} // namespace fake
