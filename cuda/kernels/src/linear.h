// linear.h has what a linear layer answers: its product, its bias, and what adapters add.
#pragma once
#include "numbers.h"

// delta_of is what adapters add to a row of n columns, delta [.][n]; 0: nothing. adapted has
// the bits of the joints that each row's adapter adds to; absent: no row has one.
DEV const bf16 *delta_of(const bf16 *delta, const i32 *adapted, int joint, int row, int n) {
  return adapted && (adapted[row] & joint) ? delta + (i64)row * n : 0;
}

// Linear is a row of an answer.
struct Linear {
  const float *parts, *bias;  // bias and delta: 0 if there is none
  const bf16 *delta;
  int splits;
  i64 size;  // of a part
};

DEV float linear_at(const Linear &a, int column) {
  float sum = sum_parts(a.parts + column, a.splits, a.size);
  if (a.bias) sum += a.bias[column];
  return a.delta ? sum + from_bf16(a.delta[column]) : sum;
}
