// Tensor cores: products of fragments, as the manual of PTX lays them out.
#pragma once
#include "warp.h"

namespace shim {

inline float widen(uint32_t bf16) {
	uint32_t u = bf16 << 16;
	float f;
	memcpy(&f, &u, 4);
	return f;
}

// multiply is D = A*B of the whole warp, 16x16 by 16x8, summed in ascending order of k. Lane l holds
// row l/4 (and 8 below) and columns 2(l%4), 2(l%4)+1 (and 8 further on) of A; of B, column l/4.
inline void multiply(Warp *w, int parity) {
	alignas(64) float a[16][16], b[16][8];
	for (int l = 0; l < 32; l++) {
		int g = l >> 2, t = (l & 3) * 2;
		const uint32_t *s = w->slot[parity][l];
		for (int i = 0; i < 4; i++) {
			int r = g + (i & 1) * 8, c = t + (i >> 1) * 8;
			a[r][c] = widen(s[i] & 0xffff);
			a[r][c + 1] = widen(s[i] >> 16);
		}
		for (int i = 0; i < 2; i++) {
			int k = t + i * 8;
			b[k][g] = widen(s[4 + i] & 0xffff);
			b[k + 1][g] = widen(s[4 + i] >> 16);
		}
	}
	for (int r = 0; r < 16; r++) {
		float sum[8] = {0};
		for (int k = 0; k < 16; k++)
			for (int n = 0; n < 8; n++) sum[n] += a[r][k] * b[k][n];
		memcpy(w->product[parity][r], sum, sizeof sum);
	}
}

} // namespace shim

// mma_16816 is mma.sync.m16n8k16 of bf16: d += a*b.
inline void mma_16816(float *d, const uint32_t *a, const uint32_t *b) {
	shim::Fiber *f = shim::block->current;
	uint32_t *s = f->warp->slot[f->warp->parity][f->lane];
	memcpy(s, a, 16);
	memcpy(s + 4, b, 8);
	auto product = f->warp->product[shim::meet(shim::product_op, shim::all_lanes, shim::multiply)];
	int g = f->lane >> 2, t = (f->lane & 3) * 2;
	d[0] += product[g][t];
	d[1] += product[g][t + 1];
	d[2] += product[g + 8][t];
	d[3] += product[g + 8][t + 1];
}
