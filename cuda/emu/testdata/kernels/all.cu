// Kernels for tests: what kernels do, in small. wrong.cu has those with bugs.
#include "port.h"
#include "wrong.cu"

// axpy is y += a*x.
KERNEL void axpy(float *y, const float *x, float a, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] += a * x[i];
}
KERNEL_EXPORT(axpy)

// reversed writes each block's values backwards.
KERNEL void reversed(float *out, const float *in) {
	SHARED(float, v, [256]);
	int at = blockIdx.x * blockDim.x;
	v[threadIdx.x] = in[at + threadIdx.x];
	__syncthreads();
	out[at + threadIdx.x] = v[blockDim.x - 1 - threadIdx.x];
}
KERNEL_EXPORT(reversed)

// product is d = a*b, 16x16 by 16x8, as one warp's tensor core does it; b by columns.
KERNEL void product(float *d, const unsigned short *a, const unsigned short *b) {
	int g = threadIdx.x >> 2, t = (threadIdx.x & 3) * 2;
	uint32_t fa[4], fb[2];
	float sum[4] = {0, 0, 0, 0};
	for (int i = 0; i < 4; i++) fa[i] = *(const uint32_t *)(a + (g + (i & 1) * 8) * 16 + t + (i >> 1) * 8);
	for (int i = 0; i < 2; i++) fb[i] = *(const uint32_t *)(b + g * 16 + t + i * 8);
	mma_16816(sum, fa, fb);
	for (int i = 0; i < 4; i++) d[(g + (i >> 1) * 8) * 8 + t + (i & 1)] = sum[i];
}
KERNEL_EXPORT(product)

// staged copies tiles of 128 values through two buffers, the next one while this one is read, and
// writes each tile backwards; what is beyond n is 0.
KERNEL void staged(float *out, const float *in, int tiles, int n) {
	SHARED(float, v, [2][128]);
	for (int t = 0; t <= tiles; t++) {
		if (t < tiles) {
			int at = t * 128 + threadIdx.x * 4;
			cp_async16(&v[t & 1][threadIdx.x * 4], in + (at < n ? at : 0), at < n);
		}
		cp_async_commit();
		if (t == 0) continue;
		cp_async_wait<1>();
		__syncthreads();
		for (int i = 0; i < 4; i++) out[(t - 1) * 128 + threadIdx.x + 32 * i] = v[(t - 1) & 1][127 - threadIdx.x - 32 * i];
		__syncthreads();
	}
}
KERNEL_EXPORT(staged)

// votes: bit masks of the odd lanes, and sums over each warp.
KERNEL void votes(float *odd, float *sum) {
	odd[threadIdx.x] = __ballot_sync(0xffffffffu, threadIdx.x & 1) == 0xaaaaaaaau;
	float v = threadIdx.x;
	for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
	sum[threadIdx.x] = __shfl_sync(0xffffffffu, v, 0);
}
KERNEL_EXPORT(votes)

// count counts threads by their number's last two bits.
KERNEL void count(int *counts) {
	SHARED(int, v, [4]);
	if (threadIdx.x < 4) v[threadIdx.x] = 0;
	__syncthreads();
	atomicAdd(&v[threadIdx.x & 3], 1);
	__syncthreads();
	if (threadIdx.x < 4) atomicAdd(&counts[threadIdx.x], v[threadIdx.x]);
}
KERNEL_EXPORT(count)
