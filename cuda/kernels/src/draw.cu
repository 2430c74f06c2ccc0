// draw.cu draws tokens as package sampling does, to the token: the same weights, added up in
// the same order, and the same random numbers. A block does a row after another; what is in
// an order, one thread adds up.
#include "blocks.h"
#include "weigh.h"

// Draw says how a row is drawn: sampling.Params and sampling.Key. Fields of 0 do nothing; a
// temperature of 0 is greedy.
struct Draw {
  u64 seed;
  u32 child, position;
  float temperature, top_p, min_p;
  i32 top_k;
};

// Tokens are how many logits have their weights added up first: sampling.Block.
#define SUM_TOKENS 64

// Scratch is what a block has for itself.
struct Scratch {
  u64 powers[POWERS];
  double weights[ROW_THREADS], sums[256];
  u32 ranks[ROW_THREADS];
  int counts[256], part[ROW_WARPS], at;
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
  int kept;
};

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

// draw_any is the token at which the weights so far exceed need; one thread asks.
DEV int draw_any(const Row &r, const double *sums, double need) {
  int b = 0, blocks = (r.n + SUM_TOKENS - 1) / SUM_TOKENS;
  double before = 0;
  for (; b < blocks - 1 && before + sums[b] <= need; b++) before += sums[b];
  int first = b * SUM_TOKENS, last = min(SUM_TOKENS, r.n - first) - 1, i = 0;
  while (last > 0 && weigh(r.weights, r.logits[first + last]) == 0) last--;
  double sum = weigh(r.weights, r.logits[first]);
  while (before + sum <= need && i < last) sum += weigh(r.weights, r.logits[first + ++i]);
  return first + i;
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

// draw_kept is the first of them at which the weights so far exceed need, in thread 0.
DEV int draw_kept(const Row &r, double need) {
  double sum = 0;
  int found = -1;
  for (int at = 0; at < r.kept; at += ROW_THREADS) {
    int n = stage(r, at);
    if (threadIdx.x != 0) continue;
    for (int i = 0; i < n && found < 0; i++) {
      sum += r.scratch->weights[i];
      if (sum > need || at + i == r.kept - 1) found = r.ids[at + i];
    }
  }
  return found;
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

// border finds the rank at which the weights of those that may be drawn, from the largest
// rank down, reach need, and, as *above, the weight of all above it: a digit after another,
// a thread adding up the weights of each.
DEV u32 border(const Row &r, double need, double *above) {
  Scratch *s = r.scratch;
  u32 lowest = 0, known = 0;
  double over = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    double own = 0;
    for (int at = 0; at < r.kept; at += ROW_THREADS) {
      int n = stage(r, at);
      if (threadIdx.x < (u32)n) {
        u32 x = rank(r.logits[r.ids[at + threadIdx.x]]);
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

// keep_top_p leaves the most likely whose weight reaches need: a token stays while the weight
// of those before it is below that, the lower ids among equals at the border.
DEV void keep_top_p(Row &r, double need) {
  double above;
  u32 lowest = border(r, need, &above);
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
  int kept = 0;
  for (int at = 0; at < r.kept; at += ROW_THREADS) {
    int i = at + threadIdx.x, all;
    i32 id = i < r.kept ? r.ids[i] : 0;
    bool keep = i < r.kept && weigh(r.weights, r.logits[id]) >= least;
    int place = kept + count_before(keep, r.scratch->part, &all);
    if (keep) r.ids[place] = id;
    kept += all;
  }
  r.kept = kept;
  __syncthreads();
}

// from_weight is a logit so that all tokens of a weight, or more, have it or a larger one.
DEV float from_weight(const Row &r, const Draw &d, double weight) {
  const float slack = 1e-3f;  // more than logf is off by
  return fmaxf((float)(r.weights.best + (double)d.temperature * (logf((float)weight) - slack)),
               -3.4028234663852886e38f);
}

// filter leaves what top-k, top-p and min-p leave, each by what the one before left, and is
// its weight.
DEV double filter(Row &r, const Draw &d, double *sums) {
  bool cuts = d.top_p > 0 && d.top_p < 1;
  double total = 0;
  if (d.top_k > 0) {
    gather(r, largest(r, d.top_k));
    if (cuts) total = sum_kept(r);
  } else if (cuts) {
    total = sum_all(r, sums);
    double none = 0.999 * (1 - (double)d.top_p) * total / r.n;  // too few weigh less to have 1-p
    gather(r, from_weight(r, d, none));
  } else {
    gather(r, from_weight(r, d, d.min_p));
  }
  if (cuts) keep_top_p(r, (double)d.top_p * total);
  if (d.min_p > 0) keep_min_p(r, d.min_p);
  return sum_kept(r);
}

// draw writes a token for each row of logits [rows][n], -1 where best has none. A block has
// room of 8*ceil(n/8) ids in scratch.
KERNEL void draw(i32 *ids, const float *logits, const Draw *draws, i32 *scratch, int rows, int n) {
  SHARED(Scratch, own, );
  own.powers[threadIdx.x] = power_bits(threadIdx.x);
  __syncthreads();
  i32 *room = scratch + (i64)blockIdx.x * ((n + 7) & ~7);
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Draw d = draws[row];
    const float *of = logits + (i64)row * n;
    Best b = block_best(of, n, own.bests);
    bool greedy = d.temperature == 0 || d.top_k == 1;
    if (greedy || !usable(b)) {
      if (threadIdx.x == 0) ids[row] = usable(b) ? b.at : -1;
      continue;
    }
    Row r = {of, n, weights_of(own.powers, b.most, d.temperature), &own, room, 0};
    double u = uniform(d.seed, d.child, d.position), *sums = (double *)room;
    int id;
    if (d.top_k > 0 || (d.top_p > 0 && d.top_p < 1) || d.min_p > 0) {
      double total = filter(r, d, sums);
      id = draw_kept(r, u * total);
    } else {
      double total = sum_all(r, sums);
      id = threadIdx.x == 0 ? draw_any(r, sums, u * total) : 0;
    }
    if (threadIdx.x == 0) ids[row] = id;
    __syncthreads();
  }
}
KERNEL_EXPORT(draw)
