// told.h has what is told of a token: the numbers that its log-probability, and those of the
// most likely, are computed from, by the host. See package sampling's logprob.go.
#pragma once
#include "row.h"

// MAX_TOLD is how many of the most likely are told of at most.
#define MAX_TOLD 20

// Likely is one of them: by the model's logits, and as it may be drawn, -infinity if it may not.
struct Likely {
  i32 id;
  float raw, sampled;
};

// Told is of a token: its logits likewise, the largest logits, and what all weigh together.
struct Told {
  i32 id, likely;
  float best_raw, raw, best, sampled;
  double total_raw, total;
  Likely top[MAX_TOLD];
};

// tell_likely lists n of the most likely: the largest logits, the lowest ids among equals.
DEV void tell_likely(Row &r, int n, Told *to) {
  int all = 0;
  if (n > 0) {
    gather(r, largest(r, n));
    all = min(n, r.kept);
  }
  Best last = {infinity(), NONE};
  for (int k = 0; k < all; k++) {
    Best own = {-infinity(), NONE};
    for (int i = threadIdx.x; i < r.kept; i += ROW_THREADS) {
      Best x = {r.logits[r.ids[i]], r.ids[i]};
      if (x.most < last.most || (x.most == last.most && x.at > last.at)) own = better(own, x);
    }
    last = best_of_block(own, r.scratch->bests);
    if (threadIdx.x == 0) {
      to->top[k].id = last.at;
      to->top[k].raw = to->top[k].sampled = last.most;
    }
  }
  if (threadIdx.x == 0) to->likely = all;
}

// tell_raw notes what the model says of a row, which is at temperature 1.
DEV void tell_raw(Row &r, int n, Told *to) {
  double total = sum_all(r, (double *)r.ids);
  tell_likely(r, n, to);
  if (threadIdx.x == 0) {
    to->best_raw = (float)r.weights.best;
    to->total_raw = total;
  }
  __syncthreads();
}

// may_be_drawn looks an id up among those.
DEV bool may_be_drawn(const Row &r, i32 id) {
  if (r.kept == EVERY) return true;
  int low = 0, high = r.kept;  // where it is, if it is
  while (low < high) {
    int middle = (low + high) / 2;
    if (r.ids[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < r.kept && r.ids[low] == id;
}

// tell_sampled notes how an id was drawn from r, of total weight, whose logits by the model are raw.
DEV void tell_sampled(const Row &r, const float *raw, i32 id, double total, Told *to) {
  int i = threadIdx.x;
  if (i == 0) {
    to->id = id;
    to->raw = raw[id];
    to->sampled = r.logits[id];
    to->best = (float)r.weights.best;
    to->total = total;
  }
  if (i < to->likely) to->top[i].sampled = may_be_drawn(r, to->top[i].id) ? r.logits[to->top[i].id] : -infinity();
}
