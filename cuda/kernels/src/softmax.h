// softmax.h merges parts of a softmax: Milakov and Gimelshein, "Online normalizer
// calculation for softmax", 2018. Scores are logarithms to base 2. What has seen nothing
// has the largest score -infinity, and merging it changes nothing, to the bit.
#pragma once
#include "numbers.h"

// SEGMENT is how many positions of a sequence have a state of their own, from multiples of
// it on.
#define SEGMENT 256

#define LOG2E 1.4426950408889634f

// scorable is a largest score that others can be taken from.
DEV float scorable(float most) { return most == -infinity() ? 0 : most; }

// Merge is how two states of a query become one.
struct Merge {
  float most, first, second;  // the largest score, and what each state is multiplied with
};

DEV Merge merge_of(float first, float second) {
  Merge m;
  m.most = fmaxf(first, second);
  float base = scorable(m.most);
  m.first = exp2f(first - base);
  m.second = exp2f(second - base);
  return m;
}

// merged is a sum of weights, or of weighted values, of both states.
DEV float merged(const Merge &m, float first, float second) {
  return fmaf(first, m.first, second * m.second);
}

// whole is what the sum of weighted values is multiplied with at the end: a sink is a
// score, natural, whose weight has no value.
DEV float whole(float most, float sum, const float *sinks, int head) {
  if (!sinks) return 1 / sum;
  Merge m = merge_of(most, sinks[head] * LOG2E);
  return m.first / merged(m, sum, 1);
}
