// halves.h has matrices of bf16, [n][k], as a tile multiplies with them.
//
// Weights of any kind are blocks of HEIGHT rows times 32 k: [n/HEIGHT][k/32], rows padded with
// zeros. A kind has add, which adds the products of a warp's rows of activations and of
// blocks, and at, which is a number of a matrix. ACROSS is by how many warps side by side the
// largest tile goes.
#pragma once
#include "numbers.h"

// block_of is the number of the block that has element at of a row of k.
template <class W>
DEV i64 block_of(int row, int at, int k) {
  return (i64)(row / W::HEIGHT) * (k / 32) + at / 32;
}

struct Halves {
  static const int HEIGHT = 1, ACROSS = 4;
  struct alignas(16) Block {
    bf16 numbers[32];
  };

  // add adds to acc what 32 k give: low and high are this thread's 8 of the rows of A, n is
  // the row of w that it has of the first product.
  template <int MI, int NJ>
  DEV_IN void add(const Block *w, int n, const Bytes16 *low, const Bytes16 *high, float (*acc)[NJ][4]) {
    Bytes16 b[NJ];
    UNROLLED (int j = 0; j < NJ; j++) b[j] = *(const Bytes16 *)&w[n + j * 8].numbers[(threadIdx.x & 3) * 8];
    UNROLLED (int half = 0; half < 4; half += 2)
      UNROLLED (int i = 0; i < MI; i++) {
        u32 a[4];
        fragment_of(a, low[i], high[i], half);
        UNROLLED (int j = 0; j < NJ; j++) mma_16816(acc[i][j], a, &b[j].w[half]);
      }
  }

  DEV_IN float at(const Block *w, int row, int i, int k) {
    return from_bf16(w[block_of<Halves>(row, i, k)].numbers[i % 32]);
  }
};
