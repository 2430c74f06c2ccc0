// route.cu chooses the experts of tokens, sorts the choices by expert, and adds up what the
// experts answer.
#include "blocks.h"

#define MOST_EXPERTS 1024

// Which scores the weights of the chosen experts are a softmax over.
enum Routing { ROUTE_ALL, ROUTE_NORMALISED, ROUTE_CHOSEN };

// goes_before says that score x of expert e goes before score y of expert f.
DEV bool goes_before(float x, int e, float y, int f) { return x > y || (x == y && e < f); }

// choose is done by one warp: the per_token highest scores, the lower expert first among
// equals, and what each weighs. Those chosen become NaN, which goes before nothing.
DEV void choose(float *scores, i32 *chosen, float *weight, int experts, int per_token, int kind) {
  int lane = threadIdx.x & 31;
  float best = 0, sum = 0;
  for (int c = 0; c < per_token; c++) {
    float most = float_of(0x7fffffffu);
    int at = MOST_EXPERTS;
    for (int e = lane; e < experts; e += 32)
      if (scores[e] == scores[e] && (at == MOST_EXPERTS || goes_before(scores[e], e, most, at)))
        most = scores[e], at = e;
    for (int o = 16; o > 0; o >>= 1) {
      float x = __shfl_xor_sync(ALL_LANES, most, o);
      int e = __shfl_xor_sync(ALL_LANES, at, o);
      if (e < MOST_EXPERTS && (at == MOST_EXPERTS || goes_before(x, e, most, at))) most = x, at = e;
    }
    if (c == 0) {
      best = most;
      if (kind == ROUTE_ALL) {
        for (int e = lane; e < experts; e += 32) sum += expf(scores[e] - best);
        sum = warp_sum(sum);
      }
    }
    float w = expf(most - best);
    if (kind != ROUTE_ALL) sum += w;
    __syncwarp(ALL_LANES);
    if (lane == 0) {
      chosen[c] = at < MOST_EXPERTS ? at : c;  // scores that are no numbers: the row is none either
      weight[c] = w;
      if (at < MOST_EXPERTS) scores[at] = float_of(0x7fffffffu);
    }
    __syncwarp(ALL_LANES);
  }
  for (int c = lane; c < per_token; c += 32) weight[c] /= sum;
}

// route writes the experts that tokens take, chosen [tokens][per_token], the highest score
// first, and what each weighs. Scores are those of rows of x [tokens][hidden], normalised
// where norm is a weight, by the router w [experts][hidden] and its bias. One block a token.
KERNEL void route(i32 *chosen, float *weight, const float *x, const float *norm, const float *w,
                  const float *bias, int hidden, int experts, int per_token, float eps, int kind) {
  SHARED(float, part, [ROW_WARPS]);
  SHARED(float, scores, [MOST_EXPERTS]);
  int t = blockIdx.x, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const float *row = x + (i64)t * hidden;
  float f = 1;
  if (norm) {
    float squares = 0;
    for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) squares = fmaf(row[i], row[i], squares);
    f = norm_factor(block_sum(squares, part), hidden, eps);
  }
  for (int e = warp; e < experts; e += ROW_WARPS) {
    const float *m = w + (i64)e * hidden;
    float sum = 0;
    for (int i = lane; i < hidden; i += 32) sum = fmaf(norm ? row[i] * f * norm[i] : row[i], m[i], sum);
    sum = warp_sum(sum);
    if (lane == 0) scores[e] = bias ? sum + bias[e] : sum;
  }
  __syncthreads();
  if (warp == 0)
    choose(scores, chosen + (i64)t * per_token, weight + (i64)t * per_token, experts, per_token, kind);
}
KERNEL_EXPORT(route)

// sort_experts sorts n choices by expert, those of an expert in their order: order has the
// choice of each row, row the row of each choice, starts the first row of each expert and the
// end. One block an expert, and one more for the end.
KERNEL void sort_experts(i32 *order, i32 *row, i32 *starts, const i32 *chosen, int n) {
  SHARED(int, part, [ROW_WARPS]);
  int own = blockIdx.x, lower = 0;
  for (int at = 0; at < n; at += ROW_THREADS) {
    int i = at + threadIdx.x, all;
    count_before(i < n && chosen[i] < own, part, &all);
    lower += all;
  }
  if (threadIdx.x == 0) starts[own] = lower;
  for (int at = 0; at < n; at += ROW_THREADS) {
    int i = at + threadIdx.x, all, mine = i < n && chosen[i] == own;
    int r = lower + count_before(mine, part, &all);
    if (mine) order[r] = i, row[i] = r;
    lower += all;
  }
}
KERNEL_EXPORT(sort_experts)

// mix adds up what the experts of a token answer, out [.][n], each times its weight, the
// first chosen first. One block a token.
KERNEL void mix(float *parts, const float *out, const float *weight, const i32 *row, int per_token, int n) {
  int t = blockIdx.x;
  for (int i = threadIdx.x; i < n; i += ROW_THREADS) {
    float sum = 0;
    for (int j = 0; j < per_token; j++)
      sum += weight[t * per_token + j] * out[(i64)row[t * per_token + j] * n + i];
    parts[(i64)t * n + i] = sum;
  }
}
KERNEL_EXPORT(mix)
