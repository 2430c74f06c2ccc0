// gemm.cu has products of activations a [m][k], bf16 with k a multiple of 32, and a matrix w
// [n][k] of any weights, as parts [.][m][n] in float32. k is cut into ranges whose sums are
// added in ascending order: by who reads the parts, or where there are rows enough, here.
#include "tile.h"

// gemm_range writes a part for each range, one a block.
template <class T>
DEV void gemm_range(typename T::Stage *stages, float *parts, const bf16 *a, const typename T::Block *w, int m,
                    int n, int k, int range) {
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  Area area = area_of<T>(m, n, k);
  int k0 = blockIdx.z * range;
  T::range(stages, rows, w, area, k0, min(k, k0 + range), acc);
  store_part<T>(parts + (i64)blockIdx.z * m * n, area, acc);
}

// gemm_sum adds up the ranges and writes one part.
template <class T>
DEV void gemm_sum(typename T::Stage *stages, float *parts, const bf16 *a, const typename T::Block *w, int m,
                  int n, int k, int range) {
  float sum[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  Area area = area_of<T>(m, n, k);
  T::ranges(stages, rows, w, area, 0, k, range, sum);
  store_part<T>(parts, area, sum);
}

// GEMM is a kernel of a tile of weights W, so many blocks of which share a multiprocessor.
#define GEMM(name, multiply, Tile, W, blocks)                                                              \
  KERNEL void LAUNCH_BOUNDS(Tile<W>::THREADS, blocks)                                                     \
      name(float *parts, const bf16 *a, const W::Block *w, int m, int n, int k, int range) {               \
    SHARED(Tile<W>::Stage, stages, [Tile<W>::STAGES]);                                                    \
    multiply<Tile<W> >(stages, parts, a, w, m, n, k, range);                                              \
  }                                                                                                        \
  KERNEL_EXPORT(name)

GEMM(gemm_16, gemm_range, Small, Halves, 4)
GEMM(gemm_64, gemm_range, Middle, Halves, 2)
GEMM(gemm_128, gemm_sum, Large, Halves, 1)
GEMM(gemm_q8_16, gemm_range, Small, Eights, 4)
GEMM(gemm_q8_64, gemm_range, Middle, Eights, 2)
GEMM(gemm_q8_128, gemm_sum, Large, Eights, 1)
GEMM(gemm_q4_16, gemm_range, Small, Fours, 4)
GEMM(gemm_q4_64, gemm_range, Middle, Fours, 2)
GEMM(gemm_q4_128, gemm_sum, Large, Fours, 1)
