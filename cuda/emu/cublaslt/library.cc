// Handles, descriptions and the choice of algorithms.
#include "lt.h"
#include <cstring>
#include <dlfcn.h>

struct cublasLtContext {
	bool open;
};

namespace lt {
Host host;
}

using lt::host;

// fake_lt_use says which driver the library is over. It is called before all else.
LT int fake_lt_use(const char *driver) {
	void *h = dlopen(driver, RTLD_NOW | RTLD_NOLOAD);
	if (!h) return 1;
	host.ready = (decltype(host.ready))dlsym(h, "fake_ready");
	host.capturing = (decltype(host.capturing))dlsym(h, "fake_capturing");
	host.holds = (decltype(host.holds))dlsym(h, "fake_holds");
	host.handles = (decltype(host.handles))dlsym(h, "fake_handles");
	host.enqueue = (decltype(host.enqueue))dlsym(h, "fake_enqueue");
	return !(host.ready && host.capturing && host.holds && host.handles && host.enqueue);
}

// fake_lt_products is how many products were done.
LT long fake_lt_products(void) { return host.products; }

LT size_t cublasLtGetVersion(void) { return 130100; }

LT_API cublasLtCreate(cublasLtHandle_t *handle) {
	if (!host.ready || host.ready()) return CUBLAS_STATUS_NOT_INITIALIZED;
	*handle = new cublasLtContext{true};
	host.handles(1);
	return CUBLAS_STATUS_SUCCESS;
}

LT_API cublasLtDestroy(cublasLtHandle_t handle) {
	if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
	delete handle;
	host.handles(-1);
	return CUBLAS_STATUS_SUCCESS;
}

// make and drop are of things that lie in an opaque part.
template <class Opaque, class T>
static cublasStatus_t make(Opaque **to, const T &content) {
	static_assert(sizeof(T) <= sizeof(Opaque), "it fits");
	*to = new Opaque{};
	memcpy(*to, &content, sizeof content);
	host.handles(1);
	return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque>
static cublasStatus_t drop(Opaque *what) {
	if (!what) return CUBLAS_STATUS_INVALID_VALUE;
	delete what;
	host.handles(-1);
	return CUBLAS_STATUS_SUCCESS;
}

template <class T, class Opaque>
static T &of(Opaque *what) { return *(T *)what; }

LT_API cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType scale) {
	return make(desc, lt::Desc{(unsigned)compute, (unsigned)scale, CUBLAS_OP_N, CUBLAS_OP_N});
}

LT_API cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return drop(desc); }

LT_API cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void *value, size_t n) {
	if (!desc || !value || n != sizeof(int)) return CUBLAS_STATUS_INVALID_VALUE;
	lt::Desc &d = of<lt::Desc>(desc);
	switch (attribute) {
	case CUBLASLT_MATMUL_DESC_TRANSA: memcpy(&d.transa, value, n); break;
	case CUBLASLT_MATMUL_DESC_TRANSB: memcpy(&d.transb, value, n); break;
	default: return CUBLAS_STATUS_NOT_SUPPORTED;
	}
	return CUBLAS_STATUS_SUCCESS;
}

LT_API cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows, uint64_t columns, int64_t ld) {
	if (!rows || !columns || ld < (int64_t)rows) return CUBLAS_STATUS_INVALID_VALUE;
	return make(layout, lt::Layout{(unsigned)type, rows, columns, ld});
}

LT_API cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return drop(layout); }

LT_API cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) { return make(preference, uint64_t(0)); }

LT_API cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return drop(preference); }

LT_API cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute, const void *value, size_t n) {
	if (!preference || !value || attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES || n != sizeof(uint64_t)) return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(preference, value, n);
	return CUBLAS_STATUS_SUCCESS;
}

LT_API cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t w, cublasLtMatrixLayout_t a,
	cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int most, cublasLtMatmulHeuristicResult_t results[], int *found) {
	*found = 0;
	if (!handle || !desc || !w || !a || !c || !d || !preference || most < 1) return CUBLAS_STATUS_INVALID_VALUE;
	if (host.capturing()) return CUBLAS_STATUS_INTERNAL_ERROR; // as CUDA 13.3 answers
	const lt::Layout &lw = of<lt::Layout>(w), &la = of<lt::Layout>(a);
	if (!lt::valid(of<lt::Desc>(desc), lw, la, of<lt::Layout>(c), of<lt::Layout>(d))) return CUBLAS_STATUS_NOT_SUPPORTED;
	lt::Product p = {la.columns, lw.columns, lw.rows, nullptr, nullptr, nullptr, nullptr, 0};
	if (lt::workspace(p) > of<uint64_t>(preference)) return CUBLAS_STATUS_NOT_SUPPORTED;
	results[0] = {};
	const uint64_t chosen[3] = {p.m, p.n, p.k};
	memcpy(&results[0].algo, chosen, sizeof chosen);
	results[0].workspaceSize = lt::workspace(p);
	results[0].wavesCount = 1;
	*found = 1;
	return CUBLAS_STATUS_SUCCESS;
}

static bool aligned(const void *p, size_t to) { return !((uintptr_t)p % to); }

LT_API cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *w, cublasLtMatrixLayout_t wl, const void *a,
	cublasLtMatrixLayout_t al, const void *beta, const void *c, cublasLtMatrixLayout_t cl, void *d, cublasLtMatrixLayout_t dl,
	const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t bytes, cudaStream_t stream) {
	if (!handle || !desc || !alpha || !beta || !wl || !al || !cl || !dl || !algorithm) return CUBLAS_STATUS_INVALID_VALUE;
	if (*(const float *)alpha != 1 || *(const float *)beta != 0 || c != d) return CUBLAS_STATUS_NOT_SUPPORTED;
	const lt::Layout &lw = of<lt::Layout>(wl), &la = of<lt::Layout>(al);
	if (!lt::valid(of<lt::Desc>(desc), lw, la, of<lt::Layout>(cl), of<lt::Layout>(dl))) return CUBLAS_STATUS_INVALID_VALUE;
	lt::Product p = {la.columns, lw.columns, lw.rows, (const uint16_t *)a, (const uint16_t *)w, (float *)d, workspace, bytes};
	const uint64_t sizes[3] = {p.m, p.n, p.k};
	if (memcmp(sizes, algorithm, sizeof sizes)) return CUBLAS_STATUS_INVALID_VALUE; // chosen for other ones
	if (bytes < lt::workspace(p) || !aligned(workspace, 16)) return CUBLAS_STATUS_INVALID_VALUE;
	if (!aligned(w, 256) || !aligned(a, 256) || !aligned(d, 256)) return CUBLAS_STATUS_INVALID_VALUE; // the preference's defaults
	return host.enqueue(stream, lt::compute, &p, sizeof p) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
