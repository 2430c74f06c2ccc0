// Kernels for tests of the driver: one product, one sum through shared memory.
#include "port.h"

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
