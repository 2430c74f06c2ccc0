// score.cu tells of tokens that are not drawn: how likely they are by their rows' logits.
#include "told.h"

// Scored says which token of a row, and how many of the most likely are told of.
struct Scored {
  i32 id, tell;
};

// score writes what is told for each row of logits [rows][n]; an id of -1 where they are not
// usable. A block has room of row_room numbers in scratch.
KERNEL void score(Told *told, const float *logits, const Scored *scored, i32 *scratch, int rows, int n) {
  SHARED(Scratch, own, );
  own.powers[threadIdx.x] = power_bits(threadIdx.x);
  __syncthreads();
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const float *of = logits + (i64)row * n;
    Told *to = told + row;
    Best most = block_best(of, n, own.bests);
    i32 id = usable(most) ? scored[row].id : -1;
    if (id >= 0) {
      Row r = {of, n, weights_of(own.powers, most.most, 1), &own, scratch + (i64)blockIdx.x * row_room(n), 0};
      tell_raw(r, scored[row].tell, to);
      if (threadIdx.x == 0) to->raw = of[id];
    }
    if (threadIdx.x == 0) to->id = id;
    __syncthreads();
  }
}
KERNEL_EXPORT(score)
