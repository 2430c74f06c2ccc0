// gemm.cu has products of activations a [m][k] and a matrix w [n][k], bf16 with k a multiple
// of 32, as parts [.][m][n] in float32. k is cut into ranges whose sums are added in
// ascending order: by who reads the parts, or where there are rows enough, here.
#include "tile.h"

// gemm_range writes a part for each range, one a block.
template <class T>
DEV void gemm_range(typename T::Stage *stages, float *parts, const bf16 *a, const bf16 *w, int m, int n,
                    int k, int range) {
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  Area area = area_of<T>(m, n, k);
  int k0 = blockIdx.z * range;
  T::range(stages, rows, w, area, k0, min(k, k0 + range), acc);
  store_part<T>(parts + (i64)blockIdx.z * m * n, area, acc);
}

KERNEL void LAUNCH_BOUNDS(Small::THREADS, 4)
    gemm_16(float *parts, const bf16 *a, const bf16 *w, int m, int n, int k, int range) {
  SHARED(Small::Stage, stages, [4]);
  gemm_range<Small>(stages, parts, a, w, m, n, k, range);
}
KERNEL_EXPORT(gemm_16)

KERNEL void LAUNCH_BOUNDS(Middle::THREADS, 2)
    gemm_64(float *parts, const bf16 *a, const bf16 *w, int m, int n, int k, int range) {
  SHARED(Middle::Stage, stages, [3]);
  gemm_range<Middle>(stages, parts, a, w, m, n, k, range);
}
KERNEL_EXPORT(gemm_64)

// gemm_128 adds up the ranges and writes one part.
KERNEL void LAUNCH_BOUNDS(Large::THREADS, 1)
    gemm_128(float *parts, const bf16 *a, const bf16 *w, int m, int n, int k, int range) {
  SHARED(Large::Stage, stages, [3]);
  float sum[Large::MI][Large::NJ][4];
  Rows rows = {a, 0, 1};
  Area area = area_of<Large>(m, n, k);
  Large::ranges(stages, rows, w, area, 0, k, range, sum);
  store_part<Large>(parts, area, sum);
}
KERNEL_EXPORT(gemm_128)
