// port.h is the only place where a kernel's source knows what compiles it: nvcc for a GPU,
// or g++ with the shim of cuda/emu, which runs the same source on a CPU. No header of CUDA
// is used.
#pragma once

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef u16 bf16;

#if defined(__CUDACC__)

#define KERNEL extern "C" __global__
#define KERNEL_EXPORT(name)
#define LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define SHARED(T, name, ...) __shared__ __align__(16) T name __VA_ARGS__

// Functions: of a file, of a class, of its values.
#define DEV static __device__ __forceinline__
#define DEV_IN static __device__ __forceinline__
#define DEV_MEMBER __device__ __forceinline__

// Loops that the compiler writes out, so that arrays stay in registers.
#define UNROLLED _Pragma("unroll") for
#define UNROLLED_4 _Pragma("unroll 4") for

// Loops that it leaves as they are, whose code would be long.
#define ROLLED _Pragma("unroll 1") for

// mma_16816 adds the product of a 16x16 and a 16x8 matrix of bf16 to d, in the warp's
// fragments as the PTX manual lays them out for mma.m16n8k16.
DEV void mma_16816(float *d, const u32 *a, const u32 *b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// from_half widens an f16.
DEV float from_half(u16 h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}

// cp_async16 begins to copy 16 bytes from global to shared memory, zeros if not valid.
DEV void cp_async16(void *shared, const void *global, int valid) {
  u32 to = (u32)__cvta_generic_to_shared(shared);
  int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
}

// cp_async_commit makes a group of the copies begun since the last one.
DEV void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// cp_async_wait waits until no more than the N newest groups of this thread are under way.
template <int N>
DEV void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

#else

#include <algorithm>

#include "shim.h"

using std::max;
using std::min;

#define DEV_IN static inline
#define DEV_MEMBER inline
#define UNROLLED for
#define UNROLLED_4 for
#define ROLLED for

#endif

#define ALL_LANES 0xffffffffu

// Bytes16 is what a thread loads at once.
struct alignas(16) Bytes16 {
  u32 w[4];
};
