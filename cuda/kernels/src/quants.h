// quants.h has matrices whose numbers are d*q, or d*q+m, with a scale d, and a minimum m, for
// each 32 of a row: blocks of 32 rows.
//
// Nothing is rounded but sums: a block's products are of q, which bf16 has exactly, and their
// sum over 32 k is multiplied with d and added in float32. The sum of activations that m is
// multiplied with is a product too, of ones.
#pragma once
#include "halves.h"

// products multiplies a warp's rows with the 8 columns of w, 32 k.
template <int MI>
DEV void products(float (*sum)[4], const Bytes16 *low, const Bytes16 *high, const u32 *w) {
  UNROLLED (int i = 0; i < MI; i++)
    UNROLLED (int r = 0; r < 4; r++) sum[i][r] = 0;
  UNROLLED (int half = 0; half < 4; half += 2)
    UNROLLED (int i = 0; i < MI; i++) {
      u32 a[4];
      fragment_of(a, low[i], high[i], half);
      mma_16816(sum[i], a, &w[half]);
    }
}

// pair_column is where the thread that has row n of a product's matrix has its two columns.
DEV int pair_column(int n) { return n - ((threadIdx.x & 31) >> 2) + 2 * (threadIdx.x & 3); }

// two_halves widens two f16 that lie side by side from an even place on.
DEV void two_halves(float *to, const u16 *from) {
  u32 both = *(const u32 *)from;
  to[0] = from_half((u16)both), to[1] = from_half((u16)(both >> 16));
}

// Eights is w = d*q with q from -128 to 127, a byte q+128.
struct Eights {
  static const int HEIGHT = 32, ACROSS = 4;
  struct alignas(16) Block {
    u8 q[32][32];
    u16 d[32];  // f16
  };

  // two are the lower two of bytes as bf16: a byte in the lowest bits of 2^23 is that much more.
  DEV_IN u32 two(u32 bytes) {
    const float more = 8388608.0f + 128.0f;
    float first = float_of(0x4b000000u | (bytes & 0xffu)) - more;
    float second = float_of(0x4b000000u | (bytes >> 8 & 0xffu)) - more;
    return bits_of(first) >> 16 | (bits_of(second) & 0xffff0000u);
  }

  template <int MI, int NJ>
  DEV_IN void add(const Block *w, int n, const Bytes16 *low, const Bytes16 *high, float (*acc)[NJ][4]) {
    int pair = pair_column(n);
    UNROLLED (int j = 0; j < NJ; j++) {
      const Block *b = w + (n + j * 8) / HEIGHT;
      const u32 *q = (const u32 *)&b->q[(n + j * 8) % HEIGHT][(threadIdx.x & 3) * 8];
      u32 numbers[4] = {two(q[0]), two(q[0] >> 16), two(q[1]), two(q[1] >> 16)};
      float sum[MI][4];
      products<MI>(sum, low, high, numbers);
      float d[2];
      two_halves(d, &b->d[(pair + j * 8) % HEIGHT]);
      UNROLLED (int i = 0; i < MI; i++)
        UNROLLED (int r = 0; r < 4; r++) acc[i][j][r] = fmaf(d[r & 1], sum[i][r], acc[i][j][r]);
    }
  }

  DEV_IN float at(const Block *w, int row, int i, int k) {
    const Block *b = w + block_of<Eights>(row, i, k);
    return from_half(b->d[row % HEIGHT]) * (float)((int)b->q[row % HEIGHT][i % 32] - 128);
  }
};

// Fours is w = d*q+m with q from 0 to 15. A word is 8 numbers: number 2i of it is nibble i, and
// number 2i+1 nibble 4+i. Few warps side by side let a sum of activations serve more columns.
struct Fours {
  static const int HEIGHT = 32, ACROSS = 2;
  struct alignas(16) Block {
    u32 q[32][4];
    u16 d[32], m[32];  // f16
  };

  // two are a nibble, and the one 16 bits above, as bf16, 16 more than they are. They stand from
  // the fourth bit on, where bf16 has the ones of numbers from 16 to 31.
  DEV_IN u32 two(u32 nibbles) { return (nibbles & 0x00780078u) | 0x41804180u; }

  template <int MI, int NJ>
  DEV_IN void add(const Block *w, int n, const Bytes16 *low, const Bytes16 *high, float (*acc)[NJ][4]) {
    const u32 ones[4] = {0x3f803f80u, 0x3f803f80u, 0x3f803f80u, 0x3f803f80u};
    int pair = pair_column(n);
    float total[MI][4];  // of a row the same in all columns
    products<MI>(total, low, high, ones);
    UNROLLED (int j = 0; j < NJ; j++) {
      const Block *b = w + (n + j * 8) / HEIGHT;
      u32 q = b->q[(n + j * 8) % HEIGHT][threadIdx.x & 3];
      u32 numbers[4] = {two(q << 3), two(q >> 1), two(q >> 5), two(q >> 9)};
      float sum[MI][4];
      products<MI>(sum, low, high, numbers);
      float d[2], m[2];
      two_halves(d, &b->d[(pair + j * 8) % HEIGHT]);
      two_halves(m, &b->m[(pair + j * 8) % HEIGHT]);
      UNROLLED (int r = 0; r < 2; r++) m[r] = fmaf(-16.0f, d[r], m[r]);
      UNROLLED (int i = 0; i < MI; i++)
        UNROLLED (int r = 0; r < 4; r++)
          acc[i][j][r] = fmaf(d[r & 1], sum[i][r], fmaf(m[r & 1], total[i][r & 2], acc[i][j][r]));
    }
  }

  DEV_IN float at(const Block *w, int row, int i, int k) {
    const Block *b = w + block_of<Fours>(row, i, k);
    int nibble = (i % 8 >> 1) + (i & 1) * 4;
    float q = (float)(b->q[row % HEIGHT][i % 32 / 8] >> 4 * nibble & 15);
    return fmaf(from_half(b->d[row % HEIGHT]), q, from_half(b->m[row % HEIGHT]));
  }
};
