// numbers.h has what all kernels compute with. Sums that are rounded once are written with
// fmaf; the compilers are told to fuse nothing else, so that a result has the same bits
// wherever the same operations compute it.
#pragma once
#include "port.h"

DEV u32 bits_of(float f) {
  u32 u;
  memcpy(&u, &f, 4);
  return u;
}

DEV float float_of(u32 u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

DEV float infinity() { return float_of(0x7f800000u); }

DEV float from_bf16(bf16 x) { return float_of((u32)x << 16); }

// to_bf16 rounds to the nearest, halves to even; a NaN stays one.
DEV bf16 to_bf16(float f) {
  u32 u = bits_of(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (bf16)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

DEV u32 pack_bf16(float low, float high) { return (u32)to_bf16(low) | (u32)to_bf16(high) << 16; }

// fragment_of is A of a product of 16 k: of the 8 numbers of k that a thread has of a row, and
// of the row 8 below, the first four, or from half 2 on the others.
DEV void fragment_of(u32 *a, const Bytes16 &low, const Bytes16 &high, int half) {
  a[0] = low.w[half], a[1] = high.w[half], a[2] = low.w[half + 1], a[3] = high.w[half + 1];
}

DEV Bytes16 no_bytes() {
  Bytes16 b;
  b.w[0] = b.w[1] = b.w[2] = b.w[3] = 0;
  return b;
}

DEV float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(ALL_LANES, v, o);
  return v;
}

// ROW_THREADS is how many threads a block has that computes a row; sums depend on it.
#define ROW_THREADS 256

// block_sum adds up v of all ROW_THREADS threads; part is shared memory for it.
DEV float block_sum(float v, float *part) {
  v = warp_sum(v);
  __syncthreads();  // part may be in use by the sum before
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < ROW_THREADS / 32; i++) sum += part[i];
  return sum;
}

// norm_factor is what a row of n numbers with such a sum of squares is multiplied with:
// Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
DEV float norm_factor(float squares, int n, float eps) { return 1.0f / sqrtf(squares / (float)n + eps); }

// sum_parts is an element of a product of which there are so many parts, size elements
// from one to the next.
DEV float sum_parts(const float *parts, int splits, i64 size) {
  float sum = parts[0];
  for (int s = 1; s < splits; s++) sum += parts[s * size];
  return sum;
}

// head_width is how many elements a head takes in memory, so that each begins at 16 bytes.
DEV int head_width(int dim) { return (dim + 7) & ~7; }
