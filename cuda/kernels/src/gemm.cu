// gemm.cu has products of activations a [m][k] and a matrix w [n][k], bf16 with k a multiple
// of 32, as parts [.][m][n] in float32. k is cut into ranges whose sums are added in
// ascending order: by who reads the parts, or where there are rows enough, here.
#include "tile.h"

template <class T> DEV void store_part(float *part, int m0, int n0, int m, int n, float (*acc)[T::NJ][4]) {
  UNROLL for (int i = 0; i < T::MI; i++)
    UNROLL for (int j = 0; j < T::NJ; j++)
      UNROLL for (int r = 0; r < 4; r++) {
        int row = m0 + T::row(i, r), column = n0 + T::column(j, r);
        if (row < m && column < n) part[(i64)row * n + column] = acc[i][j][r];
      }
}

// gemm_range writes a part for each range, one a block.
template <class T> DEV void gemm_range(typename T::Stage *stages, float *parts, const bf16 *a, const bf16 *w, int m, int n, int k, int range) {
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  int m0 = blockIdx.y * T::TM, n0 = blockIdx.x * T::TN, k0 = blockIdx.z * range, k1 = min(k, k0 + range);
  T::range(stages, rows, w, m0, m, n0, n, k0, k1, k, acc);
  store_part<T>(parts + (i64)blockIdx.z * m * n, m0, n0, m, n, acc);
}

KERNEL void LAUNCH_BOUNDS(Small::THREADS, 4) gemm_16(float *parts, const bf16 *a, const bf16 *w, int m, int n, int k, int range) {
  SHARED(Small::Stage, stages, [4]);
  gemm_range<Small>(stages, parts, a, w, m, n, k, range);
}
KERNEL_EXPORT(gemm_16)

KERNEL void LAUNCH_BOUNDS(Middle::THREADS, 2) gemm_64(float *parts, const bf16 *a, const bf16 *w, int m, int n, int k, int range) {
  SHARED(Middle::Stage, stages, [3]);
  gemm_range<Middle>(stages, parts, a, w, m, n, k, range);
}
KERNEL_EXPORT(gemm_64)

// gemm_128 adds up the ranges and writes one part.
KERNEL void LAUNCH_BOUNDS(Large::THREADS, 1) gemm_128(float *parts, const bf16 *a, const bf16 *w, int m, int n, int k, int range) {
  SHARED(Large::Stage, stages, [3]);
  float acc[Large::MI][Large::NJ][4], sum[Large::MI][Large::NJ][4];
  Rows rows = {a, 0, 1};
  int m0 = blockIdx.y * Large::TM, n0 = blockIdx.x * Large::TN;
  Large::range(stages, rows, w, m0, m, n0, n, 0, min(k, range), k, sum);
  for (int k0 = range; k0 < k; k0 += range) {
    Large::range(stages, rows, w, m0, m, n0, n, k0, min(k, k0 + range), k, acc);
    UNROLL for (int i = 0; i < Large::MI; i++)
      UNROLL for (int j = 0; j < Large::NJ; j++)
        UNROLL for (int r = 0; r < 4; r++) sum[i][j][r] += acc[i][j][r];
  }
  store_part<Large>(parts, m0, n0, m, n, sum);
}
KERNEL_EXPORT(gemm_128)
