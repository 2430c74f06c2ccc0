// Products. Sums are cut into ranges by the number of rows, as algorithms of the real library are chosen
// by it: what a row gets depends on how many there are.
#include "lt.h"
#include <cstring>

namespace lt {

bool valid(const Desc &desc, const Layout &w, const Layout &a, const Layout &c, const Layout &d) {
	return desc.compute == CUBLAS_COMPUTE_32F && desc.scale == CUDA_R_32F && desc.transa == CUBLAS_OP_T && desc.transb == CUBLAS_OP_N &&
		w.type == CUDA_R_16BF && a.type == CUDA_R_16BF && c.type == CUDA_R_32F && d.type == CUDA_R_32F && w.rows == a.rows &&
		d.rows == w.columns && d.columns == a.columns && c.rows == d.rows && c.columns == d.columns &&
		w.ld == (int64_t)w.rows && a.ld == (int64_t)a.rows && d.ld == (int64_t)d.rows && c.ld == d.ld;
}

size_t workspace(const Product &p) { return 4 * (p.m % 1024) + 1024; }

static float wide(uint16_t b) {
	uint32_t bits = (uint32_t)b << 16;
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

// dot is the product of two rows, in ranges.
static float dot(const uint16_t *a, const uint16_t *w, uint64_t k, uint64_t range) {
	float sum = 0;
	for (uint64_t from = 0; from < k; from += range) {
		float part = 0;
		for (uint64_t i = from; i < k && i < from + range; i++) part += wide(a[i]) * wide(w[i]);
		sum += part;
	}
	return sum;
}

unsigned compute(const void *product) {
	const unsigned illegal_address = 700; // CUDA_ERROR_ILLEGAL_ADDRESS
	Product p;
	memcpy(&p, product, sizeof p);
	if (!host.holds(p.a, 2 * p.m * p.k) || !host.holds(p.w, 2 * p.n * p.k) || !host.holds(p.d, 4 * p.m * p.n) ||
		!host.holds(p.workspace, p.workspace_bytes))
		return illegal_address;
	memset(p.workspace, 0xff, p.workspace_bytes); // whoever else uses it meets NaN
	uint64_t range = 8 + p.m / 64 % 4 * 8;
	for (uint64_t r = 0; r < p.m; r++)
		for (uint64_t c = 0; c < p.n; c++) p.d[r * p.n + c] = dot(p.a + r * p.k, p.w + c * p.k, p.k, range);
	host.products++;
	return 0;
}

} // namespace lt
