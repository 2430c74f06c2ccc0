// gates.h has the gates of MLPs.
#pragma once
#include "linear.h"
#include "tile.h"

// What a gate goes through: model.Activation.
enum Gate { GATE_SILU, GATE_GELU_TANH, GATE_CLAMPED };

// Shape is what a gate's function is made of: gate*sigmoid(x) of x = gate*(alpha+cubic*gate^2),
// where GELU with tanh has sigmoid(2*sqrt(2/pi)*(gate+0.044715*gate^3)); up gets more. Both
// factors stay within limit. The clamped one is that of gpt-oss.
struct Shape {
  float alpha, cubic, limit, more;
};

DEV Shape shape_of(int kind) {
  const float c = 2 * 0.7978845608028654f;
  Shape silu = {1, 0, infinity(), 0}, gelu = {c, c * 0.044715f, infinity(), 0}, clamped = {1.702f, 0, 7, 1};
  return kind == GATE_CLAMPED ? clamped : kind == GATE_GELU_TANH ? gelu : silu;
}

// gated is the product of a gate, through its function, and up. It has no branches, for which
// the compiler would write all numbers of a tile out once for each way.
DEV float gated(float gate, float up, const Shape &s) {
  const float enough = 1e30f;  // for a sigmoid, and 0 times it is 0
  gate = gate > s.limit ? s.limit : gate;  // a NaN stays one
  up = up > s.limit ? s.limit : up;
  up = up < -s.limit ? -s.limit : up;
  float square = gate * gate;
  square = square > enough ? enough : square;
  float x = gate * (s.alpha + s.cubic * square);
  return gate / (1 + expf(-x)) * (up + s.more);
}

// add_delta adds what adapters add to a gate and its up, of which column is the first of a row of
// n. delta has what they add to all gates, then to all up.
DEV void add_delta(float *gate, float *up, const bf16 *delta, int column, int n) {
  *gate += from_bf16(delta[column >> 1]);
  *up += from_bf16(delta[(n + column) >> 1]);
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
  Shape shape = shape_of(kind);
  float add[T::NJ][2];
  UNROLLED (int j = 0; j < T::NJ; j++) add[j][0] = add[j][1] = 0;
  if (bias) {
    UNROLLED (int j = 0; j < T::NJ; j++) {
      int column = a.n0 + T::column(j, 0);
      if (column < a.n1) add[j][0] = bias[column], add[j][1] = bias[column + 1];
    }
  }
  UNROLLED (int i = 0; i < T::MI; i++)
    UNROLLED (int r = 0; r < 4; r += 2) {
      int row = a.m0 + T::row(i, r);
      if (row >= a.m1) continue;
      const bf16 *delta = delta_of(added.delta, added.adapted, added.joint, row, a.n1);
      UNROLLED (int j = 0; j < T::NJ; j++) {
        int column = a.n0 + T::column(j, r);
        if (column >= a.n1) continue;
        float gate = acc[i][j][r] + add[j][0], up = acc[i][j][r + 1] + add[j][1];
        if (delta) add_delta(&gate, &up, delta, column, a.n1);
        y[(i64)row * ld + (column >> 1)] = to_bf16(gated(gate, up, shape));
      }
    }
}
