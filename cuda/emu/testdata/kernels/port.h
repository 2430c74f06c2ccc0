// What kernels of tests need of a compiler for GPUs; for the CPU, shim.h.
#pragma once
#if defined(__CUDACC__)
typedef unsigned int uint32_t;
#define KERNEL extern "C" __global__
#define KERNEL_EXPORT(name)
#define SHARED(T, name, ...) __shared__ __align__(16) T name __VA_ARGS__
static __device__ __forceinline__ void mma_16816(float *d, const uint32_t *a, const uint32_t *b) {
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static __device__ __forceinline__ void cp_async16(void *shared, const void *global, int valid) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
		: : "r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(global), "r"(valid ? 16 : 0) : "memory");
}
static __device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> static __device__ __forceinline__ void cp_async_wait() {
	asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
}
#else
#include "shim.h"
#endif
