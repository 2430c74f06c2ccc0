// Kernels with a bug each, which somebody must tell.
#include "port.h"

// race_write: a value is read that another warp may not have written yet.
KERNEL void race_write(float *out, int n) {
	SHARED(float, v, [256]);
	v[threadIdx.x] = threadIdx.x;
	out[threadIdx.x] = v[n - 1 - threadIdx.x];
}
KERNEL_EXPORT(race_write)

// race_overwrite: a value is overwritten that another warp may not have read yet.
KERNEL void race_overwrite(float *out, int n) {
	SHARED(float, v, [256]);
	float sum = 0;
	for (int round = 0; round < 2; round++) {
		v[threadIdx.x] = threadIdx.x + round;
		__syncthreads();
		sum += v[n - 1 - threadIdx.x];
	}
	out[threadIdx.x] = sum;
}
KERNEL_EXPORT(race_overwrite)

// race_lanes: lanes of a warp exchange values with nothing between.
KERNEL void race_lanes(float *out, int n) {
	SHARED(float, v, [256]);
	int first = threadIdx.x & ~31;
	v[threadIdx.x] = threadIdx.x;
	out[threadIdx.x] = v[first + 31 - (threadIdx.x & 31)] + n;
}
KERNEL_EXPORT(race_lanes)

// divergent_barrier: not all threads come to the same barrier.
KERNEL void divergent_barrier(float *out, int n) {
	if (threadIdx.x < 32) {
		out[threadIdx.x] = n;
		__syncthreads();
	} else {
		out[threadIdx.x] = 2;
		__syncthreads();
		out[threadIdx.x] = 3;
	}
}
KERNEL_EXPORT(divergent_barrier)

// early_return: a thread is gone when the others wait.
KERNEL void early_return(float *out, int n) {
	if (threadIdx.x == n - 1) return;
	__syncthreads();
	out[threadIdx.x] = 1;
}
KERNEL_EXPORT(early_return)

// half_shuffle: half a warp shuffles as if all were there.
KERNEL void half_shuffle(float *out, int n) {
	float v = threadIdx.x;
	if ((threadIdx.x & 31) < 16) v = __shfl_xor_sync(0xffffffffu, v, 1);
	out[threadIdx.x] = v + n;
}
KERNEL_EXPORT(half_shuffle)

// outside_mask: a shuffle reads a lane that takes no part.
KERNEL void outside_mask(float *out, int n) {
	float v = threadIdx.x;
	if ((threadIdx.x & 31) < 16) v = __shfl_xor_sync(0x0000ffffu, v, 16);
	out[threadIdx.x] = v + n;
}
KERNEL_EXPORT(outside_mask)

// beyond: an element too many is written, far behind all memory.
KERNEL void beyond(float *out, int n) { out[(long long)threadIdx.x * n * 4096] = 1; }
KERNEL_EXPORT(beyond)

// one_beyond: one element too many is written, in the rest of the page.
KERNEL void one_beyond(float *out, int n) { out[threadIdx.x + n] = 1; }
KERNEL_EXPORT(one_beyond)

// misaligned: eight bytes are read at an address that is aligned to four.
KERNEL void misaligned(float *out, int n) { out[threadIdx.x] = *(const double *)(out + n / 256) > 0 ? 1 : 2; }
KERNEL_EXPORT(misaligned)

// unwritten: shared memory is read that nobody has written.
KERNEL void unwritten(float *out, int n) {
	SHARED(float, v, [256]);
	if (threadIdx.x < n / 2) v[threadIdx.x] = 1;
	__syncthreads();
	out[threadIdx.x] = v[threadIdx.x];
}
KERNEL_EXPORT(unwritten)

// unwaited: a copy is read that is not waited for.
KERNEL void unwaited(float *out, int n) {
	SHARED(float, v, [256]);
	out[threadIdx.x] = n;
	__syncthreads();
	if (threadIdx.x < 64) cp_async16(&v[threadIdx.x * 4], out + threadIdx.x * 4, 1);
	cp_async_commit();
	__syncthreads();
	out[threadIdx.x] = v[255 - threadIdx.x];
}
KERNEL_EXPORT(unwaited)
