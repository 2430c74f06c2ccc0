// qkv.cu makes queries, keys and values of a product.
#include "linear.h"

#define QKV_WARPS (ROW_THREADS / 32)
#define MAX_DIM 256

// qkv_factor is that of a norm over n columns from first on, in every thread.
DEV float qkv_factor(const Linear &a, int first, int n, float eps, float *part) {
  float squares = 0;
  for (int i = threadIdx.x; i < n; i += ROW_THREADS) {
    float v = linear_at(a, first + i);
    squares = fmaf(v, v, squares);
  }
  return norm_factor(block_sum(squares, part), n, eps);
}

// turned is element i of a head in shared memory, rotated: elements i and i+rot/2 by the
// angle of i, of which cs has the cosine and, rot/2 behind it, the sine.
DEV float turned(const float *head, const float *cs, int i, int rot) {
  int half = rot >> 1;
  if (i >= rot) return head[i];
  if (i < half) return head[i] * cs[i] - head[i + half] * cs[i + half];
  return head[i] * cs[i - half] + head[i - half] * cs[i];
}

// qkv adds up the parts [splits][tokens][(heads+2*kv_heads)*dim] of a product, its bias and
// what adapters add to it: the heads of q, then those of k, then those of v. It normalises
// queries and keys where qn and kn are weights, each head by itself or all together (whole),
// rotates the first rot elements where cs [position][rot] is given, and writes queries, times
// q_scale, to q [tokens][heads*width], keys and values to their place in the pool. A page has
// for each head K [page][width] and V [page][width]; width is that of a head in memory, 0
// behind dim.
KERNEL void qkv(bf16 *q, bf16 *pool, const float *parts, const float *bias, const bf16 *delta,
                const i32 *adapted, int joint, const float *qn, const float *kn, const float *cs,
                const i32 *pos, const i32 *slot, const i32 *tables, int splits, int tokens, int heads,
                int kv_heads, int dim, int rot, int whole, float eps, float q_scale, int pages, int page,
                i64 block_stride) {
  SHARED(float, part, [QKV_WARPS]);
  SHARED(float, own, [QKV_WARPS][MAX_DIM]);
  int t = blockIdx.x, warp = threadIdx.x >> 5, lane = threadIdx.x & 31, p = pos[t];
  if (p < 0) return;
  int width = head_width(dim), columns = (heads + 2 * kv_heads) * dim;
  Linear a = {parts + (i64)t * columns, bias, delta_of(delta, adapted, joint, t, columns), splits,
              (i64)tokens * columns};
  float q_factor = 1, k_factor = 1;
  if (whole && qn) {
    q_factor = qkv_factor(a, 0, heads * dim, eps, part);
    k_factor = qkv_factor(a, heads * dim, kv_heads * dim, eps, part);
  }
  bf16 *to = pool + tables[(i64)slot[t] * pages + p / page] * block_stride + (i64)(p % page) * width;
  for (int h = warp; h < heads + 2 * kv_heads; h += QKV_WARPS) {
    bool query = h < heads, value = h >= heads + kv_heads;
    const float *w = query ? qn : value ? 0 : kn;
    float squares = 0, factor = query ? q_factor : k_factor;
    for (int i = lane; i < dim; i += 32) {
      float v = linear_at(a, h * dim + i);
      own[warp][i] = v;
      squares = fmaf(v, v, squares);
    }
    if (w && !whole) factor = norm_factor(warp_sum(squares), dim, eps);
    if (w) {
      if (whole) w += (query ? h : h - heads) * dim;
      for (int i = lane; i < dim; i += 32) own[warp][i] = own[warp][i] * factor * w[i];
    }
    __syncwarp(ALL_LANES);
    const float *angles = cs ? cs + (i64)p * rot : 0;
    bf16 *out =
        query ? q + ((i64)t * heads + h) * width : to + (i64)((h - heads) % kv_heads) * 2 * page * width;
    if (value) out += (i64)page * width;
    for (int i = lane; i < width; i += 32) {
      float v = i >= dim ? 0 : angles && !value ? turned(own[warp], angles, i, rot) : own[warp][i];
      out[i] = to_bf16(query ? v * q_scale : v);
    }
    __syncwarp(ALL_LANES);
  }
}
KERNEL_EXPORT(qkv)
