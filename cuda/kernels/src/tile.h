// tile.h multiplies a tile of rows of activations with a tile of rows of a matrix: blocks
// of threads that share both in stages of shared memory, filled by asynchronous copies
// while others are multiplied.
//
// An output is the sum over k in steps of 16, ascending, whatever the tile: the same bits
// for a row alone and among others. Within 32 numbers of k a thread takes 8 that lie side
// by side, of both factors, so that it loads 16 bytes at once; their order in the steps is
// theirs, and the same for all tiles. How a matrix lies in memory, and what a tile makes of
// it, is that of its weights: halves.h or quants.h.
#pragma once
#include "halves.h"
#include "quants.h"

// Rows of activations [.][k]: row r of a tile's product is row order[r]/per of them, or r.
struct Rows {
  const bf16 *a;
  const i32 *order;
  int per;
};

// Area is which product a tile is of: rows of activations from m0 to before m1, of the matrix
// from n0 to before n1, each k numbers long.
struct Area {
  int m0, m1, n0, n1, k;
};

// Tile is TM rows of activations times TN rows of a matrix of weights W, by WM times WN
// warps, CHUNKS times 32 of k at a time, STAGES of them in memory.
template <class W_, int TM_, int TN_, int WM, int WN, int CHUNKS, int STAGES_>
struct Tile {
  typedef typename W_::Block Block;
  static const int TM = TM_, TN = TN_, THREADS = 32 * WM * WN, STEP = 32 * CHUNKS, STAGES = STAGES_;
  static const int MI = TM / WM / 16, NJ = TN / WN / 8;  // a warp's products
  static const int PIECES = 4 * CHUNKS;                  // of 16 bytes, in a row of a stage

  struct Stage {
    bf16 a[CHUNKS][TM][32];
    Block w[CHUNKS][TN / W_::HEIGHT];
  };

  // blocks is how many a matrix has.
  DEV_IN i64 blocks(int n, int k) { return (i64)((n + W_::HEIGHT - 1) / W_::HEIGHT) * (k / 32); }

  // fetch begins to copy numbers of both factors from k0 on, to before k1.
  DEV_IN void fetch(Stage *s, const Rows &rows, const Block *w, const Area &a, int k0, int k1) {
    for (int i = threadIdx.x; i < TM * PIECES; i += THREADS) {
      int r = i / PIECES, c = i % PIECES, row = a.m0 + r, at = k0 + c * 8;
      int valid = row < a.m1 && at < k1;
      int from = valid ? (rows.order ? rows.order[row] / rows.per : row) : 0;
      cp_async16(&s->a[c >> 2][r][(c & 3) * 8], rows.a + (valid ? (i64)from * a.k + at : 0), valid);
    }
    fetch_matrix(s, w, a, k0, k1);
  }

  DEV_IN void fetch_matrix(Stage *s, const Block *w, const Area &a, int k0, int k1) {
    const int pieces = sizeof(Block) / 16;
    for (int i = threadIdx.x; i < TN / W_::HEIGHT * CHUNKS * pieces; i += THREADS) {
      int piece = i % pieces, c = i / pieces % CHUNKS, r = i / (pieces * CHUNKS);
      int row = a.n0 + r * W_::HEIGHT, at = k0 + c * 32;
      int valid = row < a.n1 && at < k1;
      const Block *from = w + (valid ? block_of<W_>(row, at, a.k) : 0);
      cp_async16((u8 *)&s->w[c][r] + 16 * piece, (const u8 *)from + 16 * piece, valid);
    }
  }

  // multiply adds what a stage gives to this thread's part of the warp's products.
  DEV_IN void multiply(const Stage *s, float (*acc)[NJ][4]) {
    int warp = threadIdx.x >> 5, g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    int m = warp / WN * (TM / WM) + g, n = warp % WN * (TN / WN) + g;
    for (int c = 0; c < CHUNKS; c++) {
      Bytes16 low[MI], high[MI];
      UNROLLED (int i = 0; i < MI; i++) {
        low[i] = *(const Bytes16 *)&s->a[c][m + i * 16][t * 8];
        high[i] = *(const Bytes16 *)&s->a[c][m + i * 16 + 8][t * 8];
      }
      W_::template add<MI, NJ>(s->w[c], n, low, high, acc);
    }
  }

  // clear makes all of acc 0.
  DEV_IN void clear(float (*acc)[NJ][4]) {
    UNROLLED (int i = 0; i < MI; i++)
      UNROLLED (int j = 0; j < NJ; j++)
        UNROLLED (int r = 0; r < 4; r++) acc[i][j][r] = 0;
  }

  // row and column are where number r of product i, j of this thread stands in the tile.
  DEV_IN int row(int i, int r) {
    return (threadIdx.x >> 5) / WN * (TM / WM) + i * 16 + ((threadIdx.x & 31) >> 2) + (r >> 1) * 8;
  }
  DEV_IN int column(int j, int r) {
    return (threadIdx.x >> 5) % WN * (TN / WN) + j * 8 + (threadIdx.x & 3) * 2 + (r & 1);
  }

  // range sets acc to the sum over k from k0 to before k1.
  DEV_IN void range(Stage *stages, const Rows &rows, const Block *w, const Area &a, int k0, int k1,
                    float (*acc)[NJ][4]) {
    clear(acc);
    int steps = (k1 - k0 + STEP - 1) / STEP;
    ROLLED (int s = 1 - STAGES; s < steps; s++) {  // the first ones only fetch
      if (s >= 0) {
        cp_async_wait<STAGES - 2>();
        __syncthreads();  // the stage is there for all, and the one before is free
      }
      int ahead = s + STAGES - 1, next = k0 + ahead * STEP;
      if (next < k1) fetch(&stages[ahead % STAGES], rows, w, a, next, k1);
      cp_async_commit();
      if (s >= 0) multiply(&stages[s % STAGES], acc);
    }
    cp_async_wait<0>();
    __syncthreads();  // all stages are free
  }

  // ranges sets sum to the sums over ranges of k, each so long, from k0 to before k1, added in
  // ascending order.
  DEV_IN void ranges(Stage *stages, const Rows &rows, const Block *w, const Area &a, int k0, int k1, int along,
                     float (*sum)[NJ][4]) {
    float acc[MI][NJ][4];
    ROLLED (int from = k0; from < k1; from += along) {
      range(stages, rows, w, a, from, min(k1, from + along), acc);
      UNROLLED (int i = 0; i < MI; i++)
        UNROLLED (int j = 0; j < NJ; j++)
          UNROLLED (int r = 0; r < 4; r++)
            sum[i][j][r] = from > k0 ? sum[i][j][r] + acc[i][j][r] : acc[i][j][r];
    }
  }
};

template <class W>
using Small = Tile<W, 16, 64, 1, 4, 2, 4>;  // of a step of few tokens: bound by memory
template <class W>
using Middle = Tile<W, 64, 64, 2, 2, 2, 3>;
template <class W>
using Large = Tile<W, 128, 128, 8 / W::ACROSS, W::ACROSS, 1, 3>;

// area_of is what a block computes of a product [m][n].
template <class T>
DEV Area area_of(int m, int n, int k) {
  Area a = {(int)blockIdx.y * T::TM, m, (int)blockIdx.x * T::TN, n, k};
  return a;
}

// store_part writes a tile's products to a part [.][n].
template <class T>
DEV void store_part(float *part, const Area &a, float (*acc)[T::NJ][4]) {
  UNROLLED (int i = 0; i < T::MI; i++)
    UNROLLED (int j = 0; j < T::NJ; j++)
      UNROLLED (int r = 0; r < 4; r++) {
        int row = a.m0 + T::row(i, r), column = a.n0 + T::column(j, r);
        if (row < a.m1 && column < a.n1) part[(i64)row * a.n1 + column] = acc[i][j][r];
      }
}
