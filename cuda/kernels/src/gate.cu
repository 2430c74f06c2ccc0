// gate.cu has products with a matrix whose rows are those of gate and up in turn, and what
// the gated MLP makes of them, bf16 [m][ld]; n is twice as many columns as it has.
#include "gates.h"
#include "tile.h"

// store_gated writes the gated columns of a tile's products; rows end before m.
template <class T> DEV void store_gated(bf16 *y, const float *bias, int m0, int n0, int m, int n, int ld, int kind, float (*acc)[T::NJ][4]) {
  UNROLL for (int i = 0; i < T::MI; i++)
    UNROLL for (int j = 0; j < T::NJ; j++)
      UNROLL for (int r = 0; r < 4; r += 2) {
        int row = m0 + T::row(i, r), column = n0 + T::column(j, r);
        if (row >= m || column >= n) continue;
        float gate = acc[i][j][r], up = acc[i][j][r + 1];
        if (bias) gate += bias[column], up += bias[column + 1];
        y[(i64)row * ld + (column >> 1)] = to_bf16(gated(gate, up, kind));
      }
}

template <class T> DEV void gate_tile(typename T::Stage *stages, bf16 *y, const bf16 *a, const bf16 *w, const float *bias, int m, int n, int k, int ld, int kind) {
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  int m0 = blockIdx.y * T::TM, n0 = blockIdx.x * T::TN;
  T::range(stages, rows, w, m0, m, n0, n, 0, k, k, acc);
  store_gated<T>(y, bias, m0, n0, m, n, ld, kind, acc);
}

KERNEL void LAUNCH_BOUNDS(Small::THREADS, 4) gate_16(bf16 *y, const bf16 *a, const bf16 *w, const float *bias, int m, int n, int k, int ld, int kind) {
  SHARED(Small::Stage, stages, [4]);
  gate_tile<Small>(stages, y, a, w, bias, m, n, k, ld, kind);
}
KERNEL_EXPORT(gate_16)

KERNEL void LAUNCH_BOUNDS(Middle::THREADS, 2) gate_64(bf16 *y, const bf16 *a, const bf16 *w, const float *bias, int m, int n, int k, int ld, int kind) {
  SHARED(Middle::Stage, stages, [3]);
  gate_tile<Middle>(stages, y, a, w, bias, m, n, k, ld, kind);
}
KERNEL_EXPORT(gate_64)

KERNEL void LAUNCH_BOUNDS(Large::THREADS, 1) gate_128(bf16 *y, const bf16 *a, const bf16 *w, const float *bias, int m, int n, int k, int ld, int kind) {
  SHARED(Large::Stage, stages, [3]);
  gate_tile<Large>(stages, y, a, w, bias, m, n, k, ld, kind);
}
KERNEL_EXPORT(gate_128)
