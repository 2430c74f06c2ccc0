// gated.cu has what the gated MLP makes of a product that is there already.
#include "gates.h"

// gate_parts writes the gated columns, bf16 [rows][ld], of a product [rows][n] in float32 whose columns
// are those of gate and up in turn, as those of bias [n], if there is one: a block for each row.
KERNEL void gate_parts(bf16 *y, const float *parts, const float *bias, const bf16 *delta, const i32 *adapted,
                       int joint, int n, int ld, int kind) {
  const float *row = parts + (i64)blockIdx.x * n;
  bf16 *out = y + (i64)blockIdx.x * ld;
  const bf16 *added = delta_of(delta, adapted, joint, blockIdx.x, n);
  Shape shape = shape_of(kind);
  for (int i = threadIdx.x; i < n / 2; i += ROW_THREADS) {
    float gate = row[2 * i], up = row[2 * i + 1];
    if (bias) gate += bias[2 * i], up += bias[2 * i + 1];
    if (added) add_delta(&gate, &up, added, 2 * i, n);
    out[i] = to_bf16(gated(gate, up, shape));
  }
}
KERNEL_EXPORT(gate_parts)
