// lora.cu has what low-rank adapters add to a product: (x A^T) B^T of each row x by the
// matrices of its adapter, A [rank][k] and B [n][rank] with its scale: Hu et al., "LoRA:
// Low-Rank Adaptation of Large Language Models", 2021.
//
// A joint is the modules that are one product, whose columns lie one behind the other; each
// module has an A and a B. A place has for each joint, one behind the other, A
// [modules*rank][k] and B [n][rank], bf16, with the rank of the adapter that is in it, a
// multiple of 32 with zeros behind the modules' own. So a joint begins rank*before numbers
// behind the place's beginning, before being the same for all adapters.
#include "tile.h"

typedef Small<Halves> Lora;  // a tile

// LoraItem is tokens that follow one another and have the same adapter, up to Lora::TM;
// none: padding. joints are the bits of those that the adapter adds to.
struct LoraItem {
  i32 first, tokens, place, rank, joints;
};

// matrix_of is the matrix that begins so many numbers for each rank behind the beginning of a
// place. Places lie so many numbers apart.
DEV const Halves::Block *matrix_of(const bf16 *adapters, const LoraItem &item, i64 place, i64 before) {
  return (const Halves::Block *)(adapters + item.place * place + item.rank * before);
}

// lora_down writes parts of x A^T, low [part][tokens][width], of activations x [tokens][k]. k is
// cut into ranges, whose sums are parts, or are added here where there is one part.
KERNEL void LAUNCH_BOUNDS(Lora::THREADS, 4)
    lora_down(float *low, const bf16 *x, const bf16 *adapters, const LoraItem *items, int joint, i64 place,
              i64 before, int modules, int tokens, int k, int range, int width) {
  SHARED(Lora::Stage, stages, [4]);
  LoraItem item = items[blockIdx.y];
  Area area = {item.first, item.first + item.tokens, (int)blockIdx.x * Lora::TN, modules * item.rank, k};
  if (item.tokens == 0 || !(item.joints & joint) || area.n0 >= area.n1) return;
  Rows rows = {x, 0, 1};
  float acc[Lora::MI][Lora::NJ][4];
  int k0 = blockIdx.z * range;
  Lora::ranges(stages, rows, matrix_of(adapters, item, place, before), area, k0,
                gridDim.z == 1 ? k : min(k, k0 + range), range, acc);
  float *part = low + (i64)blockIdx.z * tokens * width;
  UNROLLED (int j = 0; j < Lora::NJ; j++)
    UNROLLED (int r = 0; r < 4; r++) {
      int row = area.m0 + Lora::row(0, r), column = area.n0 + Lora::column(j, r);
      if (row < area.m1 && column < area.n1) part[(i64)row * width + column] = acc[0][j][r];
    }
}
KERNEL_EXPORT(lora_down)

// lora_low puts the ranks from k0 on of an area's rows, of all parts and rounded, into a stage.
DEV void lora_low(Lora::Stage *s, const float *low, const Area &a, int k0, int parts, i64 size, int width) {
  for (int i = threadIdx.x; i < Lora::TM * Lora::STEP; i += Lora::THREADS) {
    int r = i / Lora::STEP, c = i % Lora::STEP, row = a.m0 + r, at = k0 + c;
    float v = row < a.m1 && at < a.k ? sum_parts(low + (i64)row * width + at, parts, size) : 0;
    s->a[c >> 5][r][c & 31] = to_bf16(v);
  }
}

// lora_up multiplies what lora_down has written with B: delta [tokens][n]. The first module
// has so many columns, each other rest. Grid x is the tiles of all modules.
KERNEL void LAUNCH_BOUNDS(Lora::THREADS, 4)
    lora_up(bf16 *delta, const float *low, const bf16 *adapters, const LoraItem *items, int joint, i64 place,
            i64 before, int parts, int tokens, int width, int n, int first, int rest) {
  SHARED(Lora::Stage, stages, [1]);
  LoraItem item = items[blockIdx.y];
  if (item.tokens == 0 || !(item.joints & joint)) return;
  int tile = blockIdx.x, module = 0, begin = 0, columns = first;
  while (tile >= (columns + Lora::TN - 1) / Lora::TN) {
    tile -= (columns + Lora::TN - 1) / Lora::TN;
    begin += columns;
    columns = rest;
    module++;
  }
  Area area = {item.first, item.first + item.tokens, tile * Lora::TN, columns, item.rank};
  const Halves::Block *b = matrix_of(adapters, item, place, before + begin);
  float acc[Lora::MI][Lora::NJ][4];
  Lora::clear(acc);
  for (int k0 = 0; k0 < item.rank; k0 += Lora::STEP) {
    Lora::fetch_matrix(stages, b, area, k0, item.rank);
    cp_async_commit();
    lora_low(stages, low + module * item.rank, area, k0, parts, (i64)tokens * width, width);
    cp_async_wait<0>();
    __syncthreads();
    Lora::multiply(stages, acc);
    __syncthreads();  // the stage is free
  }
  UNROLLED (int j = 0; j < Lora::NJ; j++)
    UNROLLED (int r = 0; r < 4; r++) {
      int row = area.m0 + Lora::row(0, r), column = area.n0 + Lora::column(j, r);
      if (row < area.m1 && column < columns) delta[(i64)row * n + begin + column] = to_bf16(acc[0][j][r]);
    }
}
KERNEL_EXPORT(lora_up)
