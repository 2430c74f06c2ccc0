// row.h has a row of logits as a block of threads draws from it: which tokens may be drawn,
// and what they weigh together. What is in an order, one thread adds up.
#pragma once
#include "blocks.h"
#include "weigh.h"

// Tokens are how many logits have their weights added up first: sampling.Block.
#define SUM_TOKENS 64

// Scratch is what a block has for itself.
struct Scratch {
  u64 powers[POWERS];
  double weights[ROW_THREADS], sums[256];
  u32 ranks[ROW_THREADS];
  int counts[256], part[ROW_WARPS];
  Best bests[ROW_WARPS];
  double total;
  u32 lowest;
};

// Row is the row at work.
struct Row {
  const float *logits;
  int n;
  Weights weights;
  Scratch *scratch;
  i32 *ids;  // of those that may be drawn, ascending; room for n
  int kept;  // how many; EVERY: all of the row, and ids has none
};

#define EVERY -1

// row_room is how many numbers of 4 bytes a block has for something of each logit.
DEV int row_room(int n) { return (n + 7) & ~7; }

// shared_total is thread 0's number, in all threads.
DEV double shared_total(Scratch *s, double total) {
  if (threadIdx.x == 0) s->total = total;
  __syncthreads();
  total = s->total;
  __syncthreads();
  return total;
}

// sum_all is the weight of all tokens. sums, of SUM_TOKENS each, are for draw_any.
DEV double sum_all(const Row &r, double *sums) {
  int blocks = (r.n + SUM_TOKENS - 1) / SUM_TOKENS, lane = threadIdx.x & 7;
  for (int at = 0; at < blocks; at += ROW_THREADS / 8) {
    int b = at + (threadIdx.x >> 3);
    double sum = 0;
    for (int j = lane; j < SUM_TOKENS; j += 8) {
      int i = b * SUM_TOKENS + j;
      if (i < r.n) sum += weigh(r.weights, r.logits[i]);
    }
    for (int o = 4; o > 0; o >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, o);
    if (lane == 0 && b < blocks) sums[b] = sum;
  }
  __syncthreads();
  double total = 0;
  if (threadIdx.x == 0)
    for (int b = 0; b < blocks; b++) total += sums[b];
  return shared_total(r.scratch, total);
}

// gather makes the tokens with logits from a bound on those that may be drawn.
DEV void gather(Row &r, float bound) {
  int kept = 0;
  for (int at = 0; at < r.n; at += ROW_THREADS) {
    int i = at + threadIdx.x, all;
    bool keep = i < r.n && r.logits[i] >= bound;
    int place = kept + count_before(keep, r.scratch->part, &all);
    if (keep) r.ids[place] = i;
    kept += all;
  }
  r.kept = kept;
  __syncthreads();
}

// stage computes weights of up to ROW_THREADS of those that may be drawn, from number at on,
// and is how many.
DEV int stage(const Row &r, int at) {
  int i = at + threadIdx.x;
  __syncthreads();  // those before are in use no more
  if (i < r.kept) r.scratch->weights[threadIdx.x] = weigh(r.weights, r.logits[r.ids[i]]);
  __syncthreads();
  return min(ROW_THREADS, r.kept - at);
}

// sum_kept is the weight of those that may be drawn.
DEV double sum_kept(const Row &r) {
  double total = 0;
  for (int at = 0; at < r.kept; at += ROW_THREADS) {
    int n = stage(r, at);
    if (threadIdx.x == 0)
      for (int i = 0; i < n; i++) total += r.scratch->weights[i];
  }
  return shared_total(r.scratch, total);
}

// largest is the k-th largest logit, or the least finite number if no more than k are finite:
// digits of its rank one after another.
DEV float largest(const Row &r, int k) {
  u32 lowest = 0, known = 0;
  int finite = 0, all;
  for (int at = 0; at < r.n; at += ROW_THREADS) {
    int i = at + threadIdx.x;
    count_before(i < r.n && r.logits[i] > -infinity(), r.scratch->part, &all);
    finite += all;
  }
  if (finite <= k) return -3.4028234663852886e38f;
  for (int shift = 24; shift >= 0; shift -= 8) {
    r.scratch->counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < r.n; i += ROW_THREADS) {
      u32 x = rank(r.logits[i]);
      if (((x ^ lowest) & known) == 0) atomicAdd(&r.scratch->counts[x >> shift & 255], 1);
    }
    __syncthreads();
    int digit = 255;
    for (; digit > 0 && r.scratch->counts[digit] < k; digit--) k -= r.scratch->counts[digit];
    lowest |= (u32)digit << shift;
    known |= 255u << shift;
    __syncthreads();
  }
  return unrank(lowest);
}
