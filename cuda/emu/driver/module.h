// Modules and functions of the fake driver.
#pragma once
#include "driver.h"
#include <memory>
#include <vector>

// What the compiler says of a kernel.
struct CUfunc_st {
	std::string name;
	std::map<int, size_t> params; // sizes by number, where the image tells them
	int registers = 0, local = 0;
	int shared = 0;  // bytes that the kernel has by itself
	int dynamic = 0; // that a launch may ask for
};

struct CUmod_st {
	std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};

namespace fake {

constexpr int plain_shared = 48 << 10, most_shared = 227 << 10; // bytes of a block without and with opt-in

// read_cubin takes the kernels from an image in ELF that nobody has checked.
CUresult read_cubin(const unsigned char *image, CUmod_st *m);
CUresult read_ptx(const char *text, CUmod_st *m);

} // namespace fake
