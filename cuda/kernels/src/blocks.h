// blocks.h has what the ROW_THREADS threads of a block do together.
#pragma once
#include "numbers.h"

#define ROW_WARPS (ROW_THREADS / 32)

// count_before is how many of v, 0 or 1, threads before this one of the block have; *all is
// how many there are. part is shared memory for it.
DEV int count_before(int v, int *part, int *all) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, upto = v;
  for (int o = 1; o < 32; o <<= 1) {
    int x = __shfl_sync(ALL_LANES, upto, lane < o ? lane : lane - o);
    if (lane >= o) upto += x;
  }
  __syncthreads();  // part may be in use by the count before
  if (lane == 31) part[warp] = upto;
  __syncthreads();
  int before = upto - v, sum = 0;
  for (int i = 0; i < ROW_WARPS; i++) {
    if (i < warp) before += part[i];
    sum += part[i];
  }
  *all = sum;
  return before;
}

#define NONE 0x7fffffff

// Best is a number and where it stands; NONE: nowhere.
struct Best {
  float most;
  int at;
};

DEV Best better(Best a, Best b) { return b.most > a.most || (b.most == a.most && b.at < a.at) ? b : a; }

// best_of_block is the best of what ROW_THREADS threads have. bests is shared memory for it.
DEV Best best_of_block(Best own, Best *bests) {
  for (int o = 16; o > 0; o >>= 1) {
    Best x = {__shfl_xor_sync(ALL_LANES, own.most, o), __shfl_xor_sync(ALL_LANES, own.at, o)};
    own = better(own, x);
  }
  __syncthreads();  // bests may be in use by the one before
  if ((threadIdx.x & 31) == 0) bests[threadIdx.x >> 5] = own;
  __syncthreads();
  for (int i = 0; i < ROW_WARPS; i++) own = better(own, bests[i]);
  return own;
}

// block_best is the largest of n logits, the lowest place among equals, infinity where one is
// a NaN; nowhere if all are -infinity. bests is shared memory for it.
DEV Best block_best(const float *logits, int n, Best *bests) {
  Best own = {-infinity(), NONE};
  for (int i = threadIdx.x; i < n; i += ROW_THREADS) {
    Best x = {logits[i], i};
    if (!(x.most < infinity())) x.most = infinity();
    if (x.most > own.most) own = x;
  }
  return best_of_block(own, bests);
}

// usable says that a row of logits has a largest one that a token can be drawn by.
DEV bool usable(Best b) { return b.at != NONE && b.most < infinity(); }
