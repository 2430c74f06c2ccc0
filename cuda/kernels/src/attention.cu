// attention.cu has attention to a paged cache, and the merging of its segments.
#include "attention.h"

// Memory is what warps of a block have for themselves.
template <int D>
struct Memory {
  static const int WIDTH = D < WIDTH_MOST ? D : WIDTH_MOST;  // columns of V that a warp computes
  static const int WARPS = D < 256 ? 4 : 2;

  Queries<D> queries[WARPS];
  float sums[WARPS][WIDTH / 2][32];
};

// What the kernels of all head sizes are given, as they are described at attention.
#define ATTENTION_PARAMETERS                                                                        \
  bf16 *out, float *states, const bf16 *q, const bf16 *pool, const float *sinks, const i32 *items,  \
      const i32 *pos, const i32 *slot, const i32 *tables, int heads, int kv_heads, int dim, int ld, \
      int pages, int page, i64 block_stride, int window, float cap, int segments

// Place is where rows g and g+8 of a warp have their answers.
struct Place {
  int token0, head0;

  DEV_MEMBER int token(const Span &s, int r) const { return token0 + (s.row0 + r) / s.group; }
  DEV_MEMBER int head(const Span &s, int r) const { return head0 + (s.row0 + r) % s.group; }
};

// column_of is the element of a head that number i of product n has.
DEV int column_of(int column, int n, int i) {
  return column + n / 8 * 64 + (2 * (threadIdx.x & 3) + (i & 1)) * 8 + n % 8;
}

// write_states stores the warp's states of a segment, [token][head][segments][dim+2] in all.
template <int W>
DEV void write_states(const State<W> &s, float *states, const Span &span, const Place &place, int heads,
                      int dim, int segments, int number, int column) {
  int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  UNROLLED (int r = 0; r < 2; r++) {
    if (!span.has(g + 8 * r)) continue;
    i64 row = (i64)place.token(span, g + 8 * r) * heads + place.head(span, g + 8 * r);
    float *to = states + (row * segments + number) * (dim + 2);
    UNROLLED (int n = 0; n < W / 8; n++)
      UNROLLED (int i = 0; i < 2; i++) {
        int d = column_of(column, n, i);
        if (d < dim) to[d] = s.out[n][2 * r + i];
      }
    if (t == 0 && column == 0) to[dim] = s.most[r], to[dim + 1] = s.sum[r];
  }
}

// Sums are the weighted sums of V of the segments so far, of this thread, 32 numbers apart
// in shared memory: registers are for those of the segment at work.
template <int W>
struct Sums {
  float most[2], sum[2], *out;

  DEV_MEMBER void clear() {
    for (int r = 0; r < 2; r++) most[r] = -infinity(), sum[r] = 0;
    for (int i = 0; i < W / 2; i++) out[i * 32] = 0;
  }

  DEV_MEMBER void merge(const State<W> &next) {
    UNROLLED (int r = 0; r < 2; r++) {
      Merge m = merge_of(most[r], next.most[r]);
      most[r] = m.most;
      sum[r] = merged(m, sum[r], next.sum[r]);
      UNROLLED (int n = 0; n < W / 8; n++)
        UNROLLED (int i = 2 * r; i < 2 * r + 2; i++) {
          float *to = out + (n * 4 + i) * 32;
          *to = merged(m, *to, next.out[n][i]);
        }
    }
  }
};

// write_answers stores what the warp's rows get, when all segments are merged.
template <int W>
DEV void write_answers(const Sums<W> &s, bf16 *out, const Span &span, const Place &place, int dim, int ld,
                       const float *sinks, int column) {
  int g = (threadIdx.x & 31) >> 2;
  UNROLLED (int r = 0; r < 2; r++) {
    if (!span.has(g + 8 * r)) continue;
    int head = place.head(span, g + 8 * r);
    float f = whole(s.most[r], s.sum[r], sinks, head);
    bf16 *to = out + (i64)place.token(span, g + 8 * r) * ld + head * dim;
    for (int n = 0; n < W / 8; n++)
      for (int i = 0; i < 2; i++) {
        int d = column_of(column, n, i);
        if (d < dim) to[d] = to_bf16(s.out[(n * 4 + 2 * r + i) * 32] * f);
      }
  }
}

// attention answers queries q [tokens][heads*width], as out [tokens][ld], by the positions of
// their sequences up to their own, of the last window only, if it is not 0. An item is the
// first of some tokens that follow one another in a sequence, and their number; pos and
// slot are the tokens', tables [slot][pages] the sequences' blocks. Grid y is the key heads
// times the parts of V of WIDTH_MOST columns. Scores are capped at cap, if it is not 0, and
// sinks has one more score for each head. With one segment a warp goes through all that its
// rows see, and grid z times WARPS is how many times 16 rows an item has. Else grid z is the segments,
// a block is a warp, and each writes its state.
template <int D>
DEV void attend(Memory<D> &memory, ATTENTION_PARAMETERS) {
  const int W = Memory<D>::WIDTH, slices = D / W, warp = threadIdx.x >> 5;
  int token0 = items[2 * blockIdx.x], count = items[2 * blockIdx.x + 1];
  int kv = blockIdx.y / slices, column = blockIdx.y % slices * W, group = heads / kv_heads;
  if (count == 0 || pos[token0] < 0) return;
  Span span = {count * group, group, pos[token0], 0, window};
  Place place = {token0, kv * group};
  int width = head_width(dim);
  Pages c = {pool + (i64)kv * 2 * page * width, tables + (i64)slot[token0] * pages, block_stride, page,
             width};
  Queries<D> &queries = memory.queries[warp];
  Sums<W> sums;
  sums.out = &memory.sums[warp][0][threadIdx.x & 31];
  bool all = segments == 1;
  span.row0 = all ? (blockIdx.z * Memory<D>::WARPS + warp) * ROWS : 0;
  for (; span.row0 < span.rows; span.row0 += all ? span.rows : ROWS) {
    int first = span.first() / SEGMENT, end = (span.end() + SEGMENT - 1) / SEGMENT;
    if (!all) first = max(first, (int)blockIdx.z), end = min(end, (int)blockIdx.z + 1);
    if (first >= end) continue;
    queries.load(q, span, token0, heads, place.head0, width);
    if (all) sums.clear();
    for (int n = first; n < end; n++) {
      State<W> state;
      segment(state, queries, span, c, n, column, cap);
      if (all)
        sums.merge(state);
      else
        write_states(state, states, span, place, heads, dim, segments, n, column);
    }
    if (all) write_answers(sums, out, span, place, dim, ld, sinks, column);
  }
}

#define ATTENTION_ARGUMENTS                                                                             \
  memory, out, states, q, pool, sinks, items, pos, slot, tables, heads, kv_heads, dim, ld, pages, page, \
      block_stride, window, cap, segments

// Heads of up to so many elements, a multiple of 8.
KERNEL void LAUNCH_BOUNDS(32 * Memory<64>::WARPS, 3) attention_64(ATTENTION_PARAMETERS) {
  SHARED(Memory<64>, memory, );
  attend<64>(ATTENTION_ARGUMENTS);
}
KERNEL_EXPORT(attention_64)

KERNEL void LAUNCH_BOUNDS(32 * Memory<128>::WARPS, 2) attention_128(ATTENTION_PARAMETERS) {
  SHARED(Memory<128>, memory, );
  attend<128>(ATTENTION_ARGUMENTS);
}
KERNEL_EXPORT(attention_128)

KERNEL void LAUNCH_BOUNDS(32 * Memory<256>::WARPS, 4) attention_256(ATTENTION_PARAMETERS) {
  SHARED(Memory<256>, memory, );
  attend<256>(ATTENTION_ARGUMENTS);
}
KERNEL_EXPORT(attention_256)

// attention_merge merges the states [token][head][segments][dim+2] of what tokens see. Grid
// x is the heads, y the tokens.
KERNEL void attention_merge(bf16 *out, const float *states, const float *sinks, const i32 *pos, int dim,
                            int ld, int segments, int window) {
  int head = blockIdx.x, token = blockIdx.y, heads = gridDim.x, p = pos[token];
  if (p < 0) return;
  int first = (window ? max(0, p - window + 1) : 0) / SEGMENT, last = p / SEGMENT;
  const float *all = states + ((i64)token * heads + head) * segments * (dim + 2);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float most = -infinity(), sum = 0, out_d = 0;
    for (int n = first; n <= last; n++) {
      const float *s = all + (i64)n * (dim + 2);
      Merge m = merge_of(most, s[dim]);
      most = m.most;
      sum = merged(m, sum, s[dim + 1]);
      out_d = merged(m, out_d, s[d]);
    }
    out[(i64)token * ld + head * dim + d] = to_bf16(out_d * whole(most, sum, sinks, head));
  }
}
KERNEL_EXPORT(attention_merge)
