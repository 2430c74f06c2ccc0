// tokens.cu has what is done with ids.
#include "blocks.h"

// best writes the id of the largest of each row of logits [rows][n], the lowest among equals;
// -1 where one is a NaN or infinity, or all are -infinity. One block a row.
KERNEL void best(i32 *ids, const float *logits, int n) {
  SHARED(Best, bests, [ROW_WARPS]);
  Best b = block_best(logits + (i64)blockIdx.x * n, n, bests);
  if (threadIdx.x == 0) ids[blockIdx.x] = usable(b) ? b.at : -1;
}
KERNEL_EXPORT(best)

// keep notes ids drawn as the last ones of their sequences; those of a negative slot not.
KERNEL void keep(i32 *last, const i32 *ids, const i32 *slot, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && slot[i] >= 0) last[slot[i]] = ids[i];
}
KERNEL_EXPORT(keep)

// patch writes numbers to places, pairs of place and number; those of a negative place not.
KERNEL void patch(i32 *to, const i32 *pairs, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && pairs[2 * i] >= 0) to[pairs[2 * i]] = pairs[2 * i + 1];
}
KERNEL_EXPORT(patch)
