// draw.cu draws tokens as package sampling does, to the token: logits are changed and tokens
// dropped alike, weights are the same, added up in the same order, and so are random numbers.
// A block does a row after another.
#include "filters.h"
#include "process.h"
#include "told.h"

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

// choose draws the token of a row whose largest logit is at most, and is the weight of those that
// it leaves in r. The token is *id in thread 0.
DEV double choose(Row &r, const Drawing &d, i32 most, i32 *id) {
  *id = most;
  if (greedy(d)) {
    if (threadIdx.x == 0) r.ids[0] = most;
    r.kept = 1;
    __syncthreads();
    return 1;
  }
  double u = uniform(d.seed, d.child, (u32)d.position), *sums = (double *)r.ids, total;
  if (filters(d)) {
    total = filter(r, d, sums);
    *id = draw_kept(r, u * total);
  } else {
    r.kept = EVERY;
    total = sum_all(r, sums);
    if (threadIdx.x == 0) *id = draw_any(r, sums, u * total);
  }
  return total;
}

// FAILED is in the place of a token where logits are not usable, PROCESSED where they were
// before they were changed.
#define FAILED -1
#define PROCESSED -2

// draw_row draws the token of a row, in thread 0. room is for two numbers of each logit.
DEV i32 draw_row(const float *logits, int n, const Drawing &d, const Sequence &s, Told *told, Scratch *own, i32 *room) {
  Best most = block_best(logits, n, own->bests);
  if (!usable(most)) return FAILED;
  Row r = {logits, n, weights_of(own->powers, most.most, 1), own, room, 0};
  if (d.tell != NOTHING) tell_raw(r, d.tell, told);
  if (processes(d)) {
    float *work = (float *)(room + row_room(n));
    process(work, (u32 *)room, logits, n, d, s);
    most = block_best(work, n, own->bests);
    if (!usable(most)) return PROCESSED;
    r.logits = work;
  }
  r.weights = weights_of(own->powers, most.most, greedy(d) ? 1 : d.temperature);
  i32 id;
  double total = choose(r, d, most.at, &id);
  if (d.tell != NOTHING) tell_sampled(r, logits, id, total, told);
  return id;
}

// draw writes a token for each row of logits [rows][n], FAILED or PROCESSED where it has none. A
// block has room of 2*row_room numbers in scratch. By slots, history [slot][context] has the ids
// of sequences, to which tokens are added, and edits [slot][EDIT_INTS] their edits. told is [row].
KERNEL void draw(i32 *ids, const float *logits, const Drawing *drawings, i32 *scratch, i32 *history, const i32 *edits,
                 Told *told, int rows, int n, int context) {
  SHARED(Scratch, own, );
  own.powers[threadIdx.x] = power_bits(threadIdx.x);
  __syncthreads();
  i32 *room = scratch + (i64)blockIdx.x * 2 * row_room(n);
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Drawing &d = drawings[row];
    i32 *sequence = history + (i64)d.slot * context;
    const Sequence s = {sequence, edits + (i64)d.slot * EDIT_INTS};
    i32 id = draw_row(logits + (i64)row * n, n, d, s, told + row, &own, room);
    if (threadIdx.x == 0) {
      ids[row] = id;
      if (d.noted && id >= 0) sequence[d.position] = id;
    }
    __syncthreads();
  }
}
KERNEL_EXPORT(draw)
