// gate.cu has products with a matrix whose rows are those of gate and up in turn, and what
// the gated MLP makes of them, bf16 [m][ld]; n is twice as many columns as it has.
#include "gates.h"

template <class T>
DEV void gate_tile(typename T::Stage *stages, bf16 *y, const bf16 *a, const typename T::Block *w,
                   const float *bias, const Added &added, int m, int n, int k, int ld, int kind) {
  float acc[T::MI][T::NJ][4];
  Rows rows = {a, 0, 1};
  Area area = area_of<T>(m, n, k);
  T::range(stages, rows, w, area, 0, k, acc);
  store_gated<T>(y, bias, added, area, ld, kind, acc);
}

#define GATE(name, Tile, W, blocks)                                                                        \
  KERNEL void LAUNCH_BOUNDS(Tile<W>::THREADS, blocks)                                                      \
      name(bf16 *y, const bf16 *a, const W::Block *w, const float *bias, const bf16 *delta,                \
           const i32 *adapted, int joint, int m, int n, int k, int ld, int kind) {                         \
    SHARED(Tile<W>::Stage, stages, [Tile<W>::STAGES]);                                                     \
    Added added = {delta, adapted, joint};                                                                 \
    gate_tile<Tile<W> >(stages, y, a, w, bias, added, m, n, k, ld, kind);                                  \
  }                                                                                                        \
  KERNEL_EXPORT(name)

GATE(gate_16, Small, Halves, 4)
GATE(gate_64, Middle, Halves, 2)
GATE(gate_128, Large, Halves, 1)
GATE(gate_q8_16, Small, Eights, 4)
GATE(gate_q8_64, Middle, Eights, 2)
GATE(gate_q8_128, Large, Eights, 1)
GATE(gate_q4_16, Small, Fours, 4)
GATE(gate_q4_64, Middle, Fours, 2)
GATE(gate_q4_128, Large, Fours, 1)
