// experts.cu has the products of a mixture of experts: rows of tokens, sorted by expert, each
// times its expert's matrix. starts has the first row of each expert and, last, the end.
#include "gates.h"

// expert_of is the expert whose rows the block's tile has, and which of them, in area; -1:
// there are not so many tiles.
template <class T>
DEV int expert_of(const i32 *starts, int experts, Area *area) {
  int number = blockIdx.y;
  for (int e = 0; e < experts; e++) {
    int rows = starts[e + 1] - starts[e], tiles = (rows + T::TM - 1) / T::TM;
    if (number < tiles) {
      area->m0 = starts[e] + number * T::TM;
      area->m1 = starts[e + 1];
      return e;
    }
    number -= tiles;
  }
  return -1;
}

template <class T>
DEV void gate_expert(typename T::Stage *stages, bf16 *y, const bf16 *a, const typename T::Block *w,
                     const float *bias, const i32 *order, const i32 *starts, int per_token, int experts, int n,
                     int k, int ld, int kind) {
  Area area = area_of<T>(0, n, k);
  int e = expert_of<T>(starts, experts, &area);
  if (e < 0) return;
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, order, per_token};
  T::range(stages, rows, w + e * T::blocks(n, k), area, 0, k, acc);
  Added none = {0, 0, 0};
  store_gated<T>(y, bias ? bias + (i64)e * n : 0, none, area, ld, kind, acc);
}

// What gate is for one MLP: row r of y [rows][ld] is of row order[r]/per_token of a, by the
// matrices w [experts][n][k]. Grid y is as many tiles as rows can fill.
#define GATE_EXPERTS(name, Tile, W, blocks)                                                                \
  KERNEL void LAUNCH_BOUNDS(Tile<W>::THREADS, blocks)                                                      \
      name(bf16 *y, const bf16 *a, const W::Block *w, const float *bias, const i32 *order,                 \
           const i32 *starts, int per_token, int experts, int n, int k, int ld, int kind) {                \
    SHARED(Tile<W>::Stage, stages, [Tile<W>::STAGES]);                                                     \
    gate_expert<Tile<W> >(stages, y, a, w, bias, order, starts, per_token, experts, n, k, ld, kind);       \
  }                                                                                                        \
  KERNEL_EXPORT(name)

GATE_EXPERTS(gate_experts_16, Small, Halves, 4)
GATE_EXPERTS(gate_experts_64, Middle, Halves, 2)
GATE_EXPERTS(gate_experts_q8_16, Small, Eights, 4)
GATE_EXPERTS(gate_experts_q8_64, Middle, Eights, 2)
GATE_EXPERTS(gate_experts_q4_16, Small, Fours, 4)
GATE_EXPERTS(gate_experts_q4_64, Middle, Fours, 2)

template <class T>
DEV void gemm_expert(typename T::Stage *stages, float *out, const bf16 *a, const typename T::Block *w,
                     const float *bias, const i32 *starts, int experts, int n, int k) {
  Area area = area_of<T>(0, n, k);
  int e = expert_of<T>(starts, experts, &area);
  if (e < 0) return;
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  T::range(stages, rows, w + e * T::blocks(n, k), area, 0, k, acc);
  if (bias) {
    UNROLLED (int i = 0; i < T::MI; i++)
      UNROLLED (int j = 0; j < T::NJ; j++)
        UNROLLED (int r = 0; r < 4; r++) {
          int column = area.n0 + T::column(j, r);
          if (column < n) acc[i][j][r] += bias[(i64)e * n + column];
        }
  }
  store_part<T>(out, area, acc);
}

// What writes out [rows][n], rows a [rows][k] times the matrices w [experts][n][k], and the
// biases [experts][n].
#define GEMM_EXPERTS(name, Tile, W, blocks)                                                                \
  KERNEL void LAUNCH_BOUNDS(Tile<W>::THREADS, blocks)                                                      \
      name(float *out, const bf16 *a, const W::Block *w, const float *bias, const i32 *starts,             \
           int experts, int n, int k) {                                                                    \
    SHARED(Tile<W>::Stage, stages, [Tile<W>::STAGES]);                                                     \
    gemm_expert<Tile<W> >(stages, out, a, w, bias, starts, experts, n, k);                                 \
  }                                                                                                        \
  KERNEL_EXPORT(name)

GEMM_EXPERTS(gemm_experts_16, Small, Halves, 4)
GEMM_EXPERTS(gemm_experts_64, Middle, Halves, 2)
GEMM_EXPERTS(gemm_experts_q8_16, Small, Eights, 4)
GEMM_EXPERTS(gemm_experts_q8_64, Middle, Eights, 2)
GEMM_EXPERTS(gemm_experts_q4_16, Small, Fours, 4)
GEMM_EXPERTS(gemm_experts_q4_64, Middle, Fours, 2)
