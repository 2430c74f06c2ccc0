// gates.h has the gates of MLPs.
#pragma once
#include "linear.h"
#include "tile.h"

// What a gate goes through: model.Activation.
enum Gate { GATE_SILU, GATE_GELU_TANH, GATE_CLAMPED };

// gated is the product of a gate, through its function, and up. The clamped one is that of
// gpt-oss; GELU with tanh is x*sigmoid(2*sqrt(2/pi)*(x+0.044715*x^3)).
DEV float gated(float gate, float up, int kind) {
  const float c = 2 * 0.7978845608028654f, alpha = 1.702f, limit = 7.0f;
  float x = gate;
  if (kind == GATE_CLAMPED) {
    gate = gate > limit ? limit : gate;  // a NaN stays one
    up = up > limit ? limit : up < -limit ? -limit : up;
    x = alpha * gate;
    up += 1;
  } else if (kind == GATE_GELU_TANH) {
    x = c * (gate + 0.044715f * (gate * gate * gate));
  }
  return gate / (1 + expf(-x)) * up;
}

// gated_at is what becomes of two columns of a row of n, the products of a gate and its up, of
// which column is the first. delta has what adapters add to all gates, then to all up.
DEV bf16 gated_at(float gate, float up, const float *bias, const bf16 *delta, int column, int n, int kind) {
  if (bias) gate += bias[column], up += bias[column + 1];
  if (delta) gate += from_bf16(delta[column >> 1]), up += from_bf16(delta[(n + column) >> 1]);
  return to_bf16(gated(gate, up, kind));
}

// Added is what adapters add to rows: see delta_of.
struct Added {
  const bf16 *delta;
  const i32 *adapted;
  int joint;
};

// store_gated writes the gated columns of a tile's products.
template <class T>
DEV void store_gated(bf16 *y, const float *bias, const Added &added, const Area &a, int ld, int kind,
                     float (*acc)[T::NJ][4]) {
  UNROLLED (int i = 0; i < T::MI; i++)
    UNROLLED (int r = 0; r < 4; r += 2) {
      int row = a.m0 + T::row(i, r);
      if (row >= a.m1) continue;
      const bf16 *delta = delta_of(added.delta, added.adapted, added.joint, row, a.n1);
      UNROLLED (int j = 0; j < T::NJ; j++) {
        int column = a.n0 + T::column(j, r);
        if (column >= a.n1) continue;
        y[(i64)row * ld + (column >> 1)] =
            gated_at(acc[i][j][r], acc[i][j][r + 1], bias, delta, column, a.n1, kind);
      }
    }
}
