// experts.cu has the products of a mixture of experts: rows of tokens, sorted by expert, each
// times its expert's matrix. starts has the first row of each expert and, last, the end.
#include "gates.h"
#include "tile.h"

// ExpertTile is what a block computes: rows from m0 on of an expert, which end before m1.
struct ExpertTile {
  int expert, m0, m1;
};

// expert_tile finds the tile of tm rows that has a number; false: there are not so many.
DEV bool expert_tile(const i32 *starts, int experts, int number, int tm, ExpertTile *tile) {
  for (int e = 0; e < experts; e++) {
    int rows = starts[e + 1] - starts[e], tiles = (rows + tm - 1) / tm;
    if (number < tiles) {
      tile->expert = e;
      tile->m0 = starts[e] + number * tm;
      tile->m1 = starts[e + 1];
      return true;
    }
    number -= tiles;
  }
  return false;
}

template <class T> DEV void gate_expert(typename T::Stage *stages, bf16 *y, const bf16 *a, const bf16 *w, const float *bias, const i32 *order, const i32 *starts, int per_token, int experts, int n, int k, int ld, int kind) {
  ExpertTile e;
  if (!expert_tile(starts, experts, blockIdx.y, T::TM, &e)) return;
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, order, per_token};
  int n0 = blockIdx.x * T::TN;
  T::range(stages, rows, w + (i64)e.expert * n * k, e.m0, e.m1, n0, n, 0, k, k, acc);
  store_gated<T>(y, bias ? bias + (i64)e.expert * n : 0, e.m0, n0, e.m1, n, ld, kind, acc);
}

// gate_experts is what gate is for one MLP: row r of y [rows][ld] is of row
// order[r]/per_token of a, by the matrices w [experts][n][k]. Grid y is as many tiles as rows
// can fill.
KERNEL void LAUNCH_BOUNDS(Small::THREADS, 4) gate_experts_16(bf16 *y, const bf16 *a, const bf16 *w, const float *bias, const i32 *order, const i32 *starts, int per_token, int experts, int n, int k, int ld, int kind) {
  SHARED(Small::Stage, stages, [4]);
  gate_expert<Small>(stages, y, a, w, bias, order, starts, per_token, experts, n, k, ld, kind);
}
KERNEL_EXPORT(gate_experts_16)

KERNEL void LAUNCH_BOUNDS(Middle::THREADS, 2) gate_experts_64(bf16 *y, const bf16 *a, const bf16 *w, const float *bias, const i32 *order, const i32 *starts, int per_token, int experts, int n, int k, int ld, int kind) {
  SHARED(Middle::Stage, stages, [3]);
  gate_expert<Middle>(stages, y, a, w, bias, order, starts, per_token, experts, n, k, ld, kind);
}
KERNEL_EXPORT(gate_experts_64)

template <class T> DEV void gemm_expert(typename T::Stage *stages, float *out, const bf16 *a, const bf16 *w, const float *bias, const i32 *starts, int experts, int n, int k) {
  ExpertTile e;
  if (!expert_tile(starts, experts, blockIdx.y, T::TM, &e)) return;
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  int n0 = blockIdx.x * T::TN;
  T::range(stages, rows, w + (i64)e.expert * n * k, e.m0, e.m1, n0, n, 0, k, k, acc);
  if (bias) {
    UNROLL for (int i = 0; i < T::MI; i++)
      UNROLL for (int j = 0; j < T::NJ; j++)
        UNROLL for (int r = 0; r < 4; r++) {
          int column = n0 + T::column(j, r);
          if (column < n) acc[i][j][r] += bias[(i64)e.expert * n + column];
        }
  }
  store_part<T>(out, e.m0, n0, e.m1, n, acc);
}

// gemm_experts writes out [rows][n], rows a [rows][k] times the matrices w [experts][n][k],
// and the biases [experts][n].
KERNEL void LAUNCH_BOUNDS(Small::THREADS, 4) gemm_experts_16(float *out, const bf16 *a, const bf16 *w, const float *bias, const i32 *starts, int experts, int n, int k) {
  SHARED(Small::Stage, stages, [4]);
  gemm_expert<Small>(stages, out, a, w, bias, starts, experts, n, k);
}
KERNEL_EXPORT(gemm_experts_16)

KERNEL void LAUNCH_BOUNDS(Middle::THREADS, 2) gemm_experts_64(float *out, const bf16 *a, const bf16 *w, const float *bias, const i32 *starts, int experts, int n, int k) {
  SHARED(Middle::Stage, stages, [3]);
  gemm_expert<Middle>(stages, out, a, w, bias, starts, experts, n, k);
}
KERNEL_EXPORT(gemm_experts_64)
