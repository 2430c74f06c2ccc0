// What kernels of tests need of a compiler for GPUs; for the CPU, shim.h.
#pragma once
#if defined(__CUDACC__)
typedef unsigned int u32;
#define KERNEL extern "C" __global__
#define KERNEL_EXPORT(name)
#define SHARED(T, name, ...) __shared__ T name __VA_ARGS__
#else
#include "shim.h"
#endif
