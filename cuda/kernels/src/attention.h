// attention.h is attention of a warp: 16 rows, which are queries of a token and a head
// each, to the positions of a sequence, 32 at a time. K and V go from the pool's pages to
// the tensor cores without another stop. Which numbers lie in which place of a fragment is
// chosen so that a thread loads 16 bytes at once: of K 8 elements of a head, which are the
// same in Q; of V 8 columns.
//
// What a row gets is computed by its own numbers alone, in an order that its own position
// decides, so it has the same bits alone and among others.
#pragma once
#include "softmax.h"

#define POSITIONS 32    // that a warp attends to at a time
#define ROWS 16         // queries of a warp
#define WIDTH_MOST 128  // columns of V that a warp computes

// Pages is where a sequence's K and V of a head are.
struct Pages {
  const bf16 *pool;  // K of the head in the first block
  const i32 *table;  // the sequence's
  i64 block_stride;  // elements from block to block
  int page, width;   // positions of a page; V is so many times width behind K
};

// address is where position p begins in the pool.
DEV i64 address(const Pages &c, int p) {
  return c.table[p / c.page] * c.block_stride + (i64)(p % c.page) * c.width;
}

// load16 is 8 elements from column on, or zeros.
DEV Bytes16 load16(const bf16 *row, int column, bool valid) {
  return valid ? *(const Bytes16 *)(row + column) : no_bytes();
}

// Span is what the rows of a warp are: rows count of them, query heads of one key head
// side by side for each token, and the positions that all of them see at most.
struct Span {
  int rows, group, pos;  // pos: of the first token
  int row0;              // the warp's first row
  int window;            // 0: none

  // position is that of row r of the warp.
  DEV_MEMBER int position(int r) const { return pos + (row0 + r) / group; }
  DEV_MEMBER bool has(int r) const { return row0 + r < rows; }
  DEV_MEMBER int count() const { return min(ROWS, rows - row0); }
  DEV_MEMBER int first() const { return window ? max(0, position(0) - window + 1) : 0; }
  DEV_MEMBER int end() const { return position(count() - 1) + 1; }
};

// State is what this thread has of the softmax of the warp's rows g and g+8: their largest
// scores, sums of weights, the thread's own until they are closed, and weighted sums of V.
// Product i of columns from 64*c on has columns 64*c+8*n+i, n being 2t and 2t+1.
template <int W>
struct State {
  float most[2], sum[2], out[W / 8][4];

  DEV_MEMBER void clear() {
    for (int r = 0; r < 2; r++) most[r] = -infinity(), sum[r] = 0;
    UNROLLED (int i = 0; i < W / 8; i++)
      UNROLLED (int j = 0; j < 4; j++) out[i][j] = 0;
  }

  // close makes sums those of all threads of a row.
  DEV_MEMBER void close() {
    for (int r = 0; r < 2; r++) {
      sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], 1);
      sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], 2);
    }
  }
};

// Queries are the warp's rows in shared memory, where 32 elements of all lie together, so that
// threads of a warp find theirs in different banks.
template <int D>
struct Queries {
  bf16 at[D / 32][ROWS][32];

  // load is called by all threads of the warp that has them.
  DEV_MEMBER void load(const bf16 *q, const Span &s, int first_token, int heads, int head0, int width) {
    __syncwarp(ALL_LANES);  // those before are in use no more
    for (int i = threadIdx.x & 31; i < ROWS * D / 8; i += 32) {
      int r = i / (D / 8), d = i % (D / 8) * 8, row = s.row0 + r;
      bool has = s.has(r);
      const bf16 *from =
          q + ((i64)(first_token + (has ? row / s.group : 0)) * heads + head0 + row % s.group) * width;
      *(Bytes16 *)&at[d / 32][r][d % 32] = load16(from, d, has && d < width);
    }
    __syncwarp(ALL_LANES);
  }
};

// scores sets s to q times K of positions from p on; product j has positions p+8j+2t and
// the next one. at is where position p+lane is.
template <int D>
DEV void scores(const Queries<D> &q, const Pages &c, i64 at, int p, int first, int end, float (*s)[4]) {
  int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  const bf16 *k[POSITIONS / 8];
  bool valid[POSITIONS / 8];
  UNROLLED (int j = 0; j < POSITIONS / 8; j++) {
    k[j] = c.pool + __shfl_sync(ALL_LANES, at, 8 * j + g);
    valid[j] = p + 8 * j + g >= first && p + 8 * j + g < end;
    UNROLLED (int i = 0; i < 4; i++) s[j][i] = 0;
  }
  UNROLLED_4 (int d = 0; d < D / 32; d++) {
    Bytes16 low = *(const Bytes16 *)&q.at[d][g][t * 8], high = *(const Bytes16 *)&q.at[d][g + 8][t * 8];
    UNROLLED (int j = 0; j < POSITIONS / 8; j++) {
      Bytes16 b = load16(k[j], d * 32 + t * 8, valid[j] && d * 32 + t * 8 < c.width);
      UNROLLED (int half = 0; half < 4; half += 2) {
        u32 a[4] = {low.w[half], high.w[half], low.w[half + 1], high.w[half + 1]};
        mma_16816(s[j], a, &b.w[half]);
      }
    }
  }
}

// weigh makes weights of scores and brings the state to their largest one.
template <int W>
DEV void weigh(State<W> &state, const Span &span, int p, float cap, float (*s)[4]) {
  int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  UNROLLED (int r = 0; r < 2; r++) {
    int last = span.position(g + 8 * r), early = span.window ? last - span.window : -1;
    float most = -infinity();
    UNROLLED (int j = 0; j < POSITIONS / 8; j++)
      UNROLLED (int i = 2 * r; i < 2 * r + 2; i++) {
        int at = p + 8 * j + 2 * t + (i & 1);
        float x = cap != 0 ? cap * tanhf(s[j][i] / cap) : s[j][i];
        s[j][i] = at <= last && at > early ? x * LOG2E : -infinity();
        most = fmaxf(most, s[j][i]);
      }
    most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, 1));
    most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, 2));
    most = fmaxf(most, state.most[r]);
    float base = scorable(most), before = exp2f(state.most[r] - base), sum = 0;
    UNROLLED (int j = 0; j < POSITIONS / 8; j++)
      UNROLLED (int i = 2 * r; i < 2 * r + 2; i++) sum += s[j][i] = exp2f(s[j][i] - base);
    state.sum[r] = fmaf(state.sum[r], before, sum);
    state.most[r] = most;
    UNROLLED (int i = 0; i < W / 8; i++) state.out[i][2 * r] *= before, state.out[i][2 * r + 1] *= before;
  }
}

// add_values adds V of positions from p on, columns from column on, times the weights s.
template <int W>
DEV void add_values(State<W> &state, const Pages &c, i64 at, int p, int first, int end, int column,
                    float (*s)[4]) {
  int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  UNROLLED (int h = 0; h < POSITIONS / 16; h++) {
    u32 a[4] = {pack_bf16(s[2 * h][0], s[2 * h][1]), pack_bf16(s[2 * h][2], s[2 * h][3]),
                pack_bf16(s[2 * h + 1][0], s[2 * h + 1][1]), pack_bf16(s[2 * h + 1][2], s[2 * h + 1][3])};
    const bf16 *v[4];
    bool valid[4];
    UNROLLED (int i = 0; i < 4; i++) {
      int n = 16 * h + 2 * t + (i & 1) + (i >> 1) * 8;
      v[i] = c.pool + __shfl_sync(ALL_LANES, at, n) + (i64)c.page * c.width;
      valid[i] = p + n >= first && p + n < end;
    }
    UNROLLED (int d = 0; d < W / 64; d++) {
      int from = column + d * 64 + g * 8;
      Bytes16 x[4];
      UNROLLED (int i = 0; i < 4; i++) x[i] = load16(v[i], from, valid[i] && from < c.width);
      UNROLLED (int i = 0; i < 4; i++) {
        u32 even[2] = {(x[0].w[i] & 0xffffu) | x[1].w[i] << 16, (x[2].w[i] & 0xffffu) | x[3].w[i] << 16};
        u32 odd[2] = {x[0].w[i] >> 16 | (x[1].w[i] & 0xffff0000u),
                      x[2].w[i] >> 16 | (x[3].w[i] & 0xffff0000u)};
        mma_16816(state.out[d * 8 + 2 * i], a, even);
        mma_16816(state.out[d * 8 + 2 * i + 1], a, odd);
      }
    }
  }
}

// segment sets the state to what the rows see of a segment.
template <int D, int W>
DEV void segment(State<W> &state, const Queries<D> &q, const Span &span, const Pages &c, int number,
                 int column, float cap) {
  int first = max(span.first(), number * SEGMENT), end = min(span.end(), (number + 1) * SEGMENT);
  state.clear();
  for (int p = first / POSITIONS * POSITIONS; p < end; p += POSITIONS) {
    float s[POSITIONS / 8][4];
    int mine = p + (threadIdx.x & 31);
    i64 at = mine >= first && mine < end ? address(c, mine) : 0;
    scores(q, c, at, p, first, end, s);
    weigh(state, span, p, cap, s);
    add_values(state, c, at, p, first, end, column, s);
  }
  state.close();
}
