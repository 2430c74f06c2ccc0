// filters.h drops tokens from a distribution as the filters of package sampling do: see its
// filters.go.
#pragma once
#include "drawing.h"
#include "row.h"

// BySize ranks logits by their size.
struct BySize {
  DEV_MEMBER u32 operator()(float logit) const { return rank(logit); }
};

// ByTypicality ranks logits by how near their surprise is to its mean, the entropy.
struct ByTypicality {
  double best, temperature, log_total, entropy;
  DEV_MEMBER double log_weight(float logit) const { return ((double)logit - best) / temperature; }
  DEV_MEMBER u32 operator()(float logit) const {
    return rank((float)-fabs(log_total - log_weight(logit) - entropy));
  }
};

// border finds the rank at which the weights of those that may be drawn, from the largest
// rank down, reach need, and, as *above, the weight of all above it: a digit after another,
// a thread adding up the weights of each.
template <class Rank>
DEV u32 border(const Row &r, const Rank &ranked, double need, double *above) {
  Scratch *s = r.scratch;
  u32 lowest = 0, known = 0;
  double over = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    double own = 0;
    for (int at = 0; at < r.kept; at += ROW_THREADS) {
      int n = stage(r, at);
      if (threadIdx.x < (u32)n) {
        u32 x = ranked(r.logits[r.ids[at + threadIdx.x]]);
        s->ranks[threadIdx.x] = ((x ^ lowest) & known) == 0 ? x >> shift & 255 : 256;
      }
      __syncthreads();
      for (int i = 0; i < n; i++)
        if (s->ranks[i] == threadIdx.x) own += s->weights[i];
    }
    s->sums[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
      double sum = 0;
      int digit = 0;
      for (int b = 255; b >= 0; b--) {
        if (s->sums[b] == 0) continue;
        digit = b;
        sum += s->sums[b];
        if (sum >= need - over) break;
      }
      for (int b = digit + 1; b < 256; b++) over += s->sums[b];
      s->lowest = lowest | (u32)digit << shift;
    }
    over = shared_total(s, over);
    lowest = s->lowest;
    known |= 255u << shift;
  }
  *above = over;
  return lowest;
}

// keep_if leaves those of whose logits keep says so.
template <class Keep>
DEV void keep_if(Row &r, const Keep &keep) {
  int kept = 0;
  for (int at = 0; at < r.kept; at += ROW_THREADS) {
    int i = at + threadIdx.x, all;
    i32 id = i < r.kept ? r.ids[i] : 0;
    bool stays = i < r.kept && keep(r.logits[id]);
    int place = kept + count_before(stays, r.scratch->part, &all);
    if (stays) r.ids[place] = id;
    kept += all;
  }
  r.kept = kept;
  __syncthreads();
}

// keep_top_p leaves the most likely whose weight reaches need: a token stays while the weight
// of those before it is below that, the lower ids among equals at the border.
DEV void keep_top_p(Row &r, double need) {
  double above;
  u32 lowest = border(r, BySize(), need, &above);
  double equal = weigh(r.weights, unrank(lowest));
  int stay = 0, seen = 0, kept = 0;
  for (; above < need && stay < r.kept; stay++) above += equal;
  for (int at = 0; at < r.kept; at += ROW_THREADS) {
    int i = at + threadIdx.x, all;
    i32 id = i < r.kept ? r.ids[i] : 0;
    u32 x = i < r.kept ? rank(r.logits[id]) : 0;
    bool tie = i < r.kept && x == lowest;
    int before = seen + count_before(tie, r.scratch->part, &all);
    seen += all;
    bool keep = i < r.kept && (x > lowest || (tie && before < stay));
    int place = kept + count_before(keep, r.scratch->part, &all);
    if (keep) r.ids[place] = id;
    kept += all;
  }
  r.kept = kept;
  __syncthreads();
}

// keep_min_p leaves those with a weight of least or more.
DEV void keep_min_p(Row &r, double least) {
  const Weights weights = r.weights;
  keep_if(r, [=](float logit) { return weigh(weights, logit) >= least; });
}

// entropy_of is the mean of the surprise of those that may be drawn, of such a total weight.
DEV double entropy_of(const Row &r, const ByTypicality &t, double total) {
  double entropy = 0;
  for (int at = 0; at < r.kept; at += ROW_THREADS) {
    int n = stage(r, at);
    if (threadIdx.x < (u32)n) {
      double *w = &r.scratch->weights[threadIdx.x];
      if (*w > 0) *w = *w / total * (t.log_weight(r.logits[r.ids[at + threadIdx.x]]) - t.log_total);
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (int i = 0; i < n; i++) entropy -= r.scratch->weights[i];
  }
  return shared_total(r.scratch, entropy);
}

// keep_typical leaves the most typical whose weight reaches p of all, and ties with the last
// of these: Meister et al., "Locally Typical Sampling", TACL 2023.
DEV void keep_typical(Row &r, double temperature, double p) {
  double total = sum_kept(r), above;
  ByTypicality t = {r.weights.best, temperature, ln(total), 0};
  t.entropy = entropy_of(r, t, total);
  u32 lowest = border(r, t, p * total, &above);
  keep_if(r, [=](float logit) { return t(logit) >= lowest; });
}

// from_weight is a logit so that all tokens of a weight, or more, have it or a larger one.
DEV float from_weight(const Row &r, const Drawing &d, double weight) {
  const float slack = 1e-3f;  // more than logf is off by
  return fmaxf((float)(r.weights.best + (double)d.temperature * (logf((float)weight) - slack)),
               -3.4028234663852886e38f);
}

// cuts says that less than everything has this probability.
DEV bool cuts(float p) { return p > 0 && p < 1; }

// filters says that some tokens may be dropped.
DEV bool filters(const Drawing &d) { return d.top_k > 0 || cuts(d.top_p) || d.min_p > 0 || cuts(d.typical_p); }

// filter leaves what top-k, top-p, min-p and typical-p leave, each by what the one before left,
// and is its weight.
DEV double filter(Row &r, const Drawing &d, double *sums) {
  double total = 0;
  if (d.top_k > 0) {
    gather(r, largest(r, d.top_k));
    if (cuts(d.top_p)) total = sum_kept(r);
  } else if (cuts(d.top_p)) {
    total = sum_all(r, sums);
    double none = 0.999 * (1 - (double)d.top_p) * total / r.n;  // too few weigh less to have 1-p
    gather(r, from_weight(r, d, none));
  } else {
    gather(r, from_weight(r, d, d.min_p));
  }
  if (cuts(d.top_p)) keep_top_p(r, (double)d.top_p * total);
  if (d.min_p > 0) keep_min_p(r, d.min_p);
  if (cuts(d.typical_p)) keep_typical(r, d.temperature, d.typical_p);
  return sum_kept(r);
}
