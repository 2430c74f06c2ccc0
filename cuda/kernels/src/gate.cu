// gate.cu has products with a matrix whose rows are those of gate and up in turn, and what
// the gated MLP makes of them, bf16 [m][ld]; n is twice as many columns as it has.
#include "gates.h"

template <class T>
DEV void gate_tile(typename T::Stage *stages, bf16 *y, const bf16 *a, const bf16 *w, const float *bias,
                   const Added &added, int m, int n, int k, int ld, int kind) {
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  Area area = area_of<T>(m, n, k);
  T::range(stages, rows, w, area, 0, k, acc);
  store_gated<T>(y, bias, added, area, ld, kind, acc);
}

KERNEL void LAUNCH_BOUNDS(Small::THREADS, 4)
    gate_16(bf16 *y, const bf16 *a, const bf16 *w, const float *bias, const bf16 *delta,
            const i32 *adapted, int joint, int m, int n, int k, int ld, int kind) {
  SHARED(Small::Stage, stages, [4]);
  Added added = {delta, adapted, joint};
  gate_tile<Small>(stages, y, a, w, bias, added, m, n, k, ld, kind);
}
KERNEL_EXPORT(gate_16)

KERNEL void LAUNCH_BOUNDS(Middle::THREADS, 2)
    gate_64(bf16 *y, const bf16 *a, const bf16 *w, const float *bias, const bf16 *delta,
            const i32 *adapted, int joint, int m, int n, int k, int ld, int kind) {
  SHARED(Middle::Stage, stages, [3]);
  Added added = {delta, adapted, joint};
  gate_tile<Middle>(stages, y, a, w, bias, added, m, n, k, ld, kind);
}
KERNEL_EXPORT(gate_64)

KERNEL void LAUNCH_BOUNDS(Large::THREADS, 1)
    gate_128(bf16 *y, const bf16 *a, const bf16 *w, const float *bias, const bf16 *delta,
            const i32 *adapted, int joint, int m, int n, int k, int ld, int kind) {
  SHARED(Large::Stage, stages, [3]);
  Added added = {delta, adapted, joint};
  gate_tile<Large>(stages, y, a, w, bias, added, m, n, k, ld, kind);
}
KERNEL_EXPORT(gate_128)
