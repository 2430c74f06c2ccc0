// shim.h lets g++ compile a kernel's source for this CPU, each thread of a block a fiber. It stands
// for what nvcc has built in, and for the macros of the sources' port.h on a GPU.
#pragma once
#include "async.h"
#include "atomics.h"
#include "block.h"
#include "half.h"
#include "registry.h"
#include "tensor.h"
#include "warp.h"
#include <cmath>

#define KERNEL extern "C"
#define KERNEL_EXPORT(n) static shim::Register register_##n(#n, shim::Caller<n>::kernel());
#define DEV static inline
#define LAUNCH_BOUNDS(...)
#define SHARED(T, name, ...)                                                                       \
	typedef T name##_type __VA_ARGS__;                                                         \
	name##_type &name = *(name##_type *)shim::shared_array(__COUNTER__, sizeof(name##_type))
#define SHARED_DYN(T, name) T *name = (T *)shim::block->shared

#define threadIdx (shim::block->current->index)
#define blockIdx (shim::block->index)
#define blockDim (shim::block->threads)
#define gridDim (shim::block->grid)
#define __syncthreads() shim::barrier(__LINE__)
#define __restrict__

inline float rsqrtf(float x) { return 1.f / sqrtf(x); }
