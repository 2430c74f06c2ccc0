// rows.cu has the kernels that compute the residual stream, one block of ROW_THREADS a row.
#include "linear.h"
#include "quants.h"

// embed_row writes a row of a table of weights W, ld elements each, times scale to x
// [tokens][hidden]. A negative id names the sequence -1-id, whose token the step before has
// drawn: last has it. A token at a negative position is padding, 0; one whose id is not known
// is NaN.
template <class W>
DEV void embed_row(float *x, const typename W::Block *table, const i32 *ids, const i32 *last, const i32 *pos,
                   int hidden, int ld, float scale) {
  int t = blockIdx.x, id = ids[t];
  float *row = x + (i64)t * hidden;
  if (pos[t] >= 0 && id < 0) id = last[-1 - id];
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) {
    if (pos[t] < 0)
      row[i] = 0;
    else
      row[i] = id < 0 ? float_of(0x7fffffffu) : W::at(table, id, i, ld) * scale;
  }
}

#define EMBED(name, W)                                                                                     \
  KERNEL void name(float *x, const W::Block *table, const i32 *ids, const i32 *last, const i32 *pos,       \
                   int hidden, int ld, float scale) {                                                      \
    embed_row<W>(x, table, ids, last, pos, hidden, ld, scale);                                             \
  }                                                                                                        \
  KERNEL_EXPORT(name)

EMBED(embed, Halves)
EMBED(embed_q8, Eights)
EMBED(embed_q4, Fours)

// rms_norm writes rows of x [.][hidden], normalised and times w, to y [rows][width]. Row i is
// from[i] of x, or i; without w it is only rounded.
KERNEL void rms_norm(bf16 *y, const float *x, const i32 *from, const float *w, int hidden, int width,
                     float eps) {
  SHARED(float, part, [ROW_THREADS / 32]);
  int r = from ? from[blockIdx.x] : blockIdx.x;
  const float *row = x + (i64)r * hidden;
  float f = 1;
  if (w) {
    float squares = 0;
    for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) squares = fmaf(row[i], row[i], squares);
    f = norm_factor(block_sum(squares, part), hidden, eps);
  }
  bf16 *out = y + (i64)blockIdx.x * width;
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) out[i] = to_bf16(w ? row[i] * f * w[i] : row[i]);
}
KERNEL_EXPORT(rms_norm)

// residual adds what half a layer answers, parts [splits][rows][hidden], its bias and what
// adapters add to it, times scale to x [rows][hidden], normalised before where post is a
// norm's weight. y [rows][width] becomes x, normalised where pre is one.
KERNEL void residual(float *x, bf16 *y, const float *parts, const float *bias, const bf16 *delta,
                     const i32 *adapted, int joint, const float *post, const float *pre, int splits, int rows,
                     int hidden, int width, float scale, float eps) {
  SHARED(float, part, [ROW_THREADS / 32]);
  Linear answer = {parts, bias, delta_of(delta, adapted, joint, blockIdx.x, hidden), splits, (i64)rows * hidden};
  i64 at = (i64)blockIdx.x * hidden;
  answer.parts += at;
  float *row = x + at;
  float f = 1, squares = 0;
  if (post) {
    for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) {
      float d = linear_at(answer, i);
      squares = fmaf(d, d, squares);
    }
    f = norm_factor(block_sum(squares, part), hidden, eps);
  }
  squares = 0;
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS) {
    float d = linear_at(answer, i);
    if (post) d = d * f * post[i];
    float sum = row[i] + d * scale;
    row[i] = sum;
    squares = fmaf(sum, sum, squares);
  }
  f = pre ? norm_factor(block_sum(squares, part), hidden, eps) : 1;
  bf16 *out = y + (i64)blockIdx.x * width;
  for (int i = threadIdx.x; i < hidden; i += ROW_THREADS)
    out[i] = to_bf16(pre ? row[i] * f * pre[i] : row[i]);
}
KERNEL_EXPORT(residual)

// shape makes logits [rows][n] of what the head's product gives: times scale, and capped at
// cap by cap*tanh(x/cap), each if it is not 0.
KERNEL void shape(float *logits, int n, float scale, float cap) {
  float *row = logits + (i64)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += ROW_THREADS) {
    float v = row[i];
    if (scale != 0) v *= scale;
    row[i] = cap != 0 ? cap * tanhf(v / cap) : v;
  }
}
KERNEL_EXPORT(shape)
