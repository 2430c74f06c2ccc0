// The state of the fake cublasLt: a library over the fake driver.
#pragma once
#include "api.h"

namespace lt {

// Host is what the fake driver gives (driver/library.cc), and what tests count.
struct Host {
	unsigned (*ready)(void);
	int (*capturing)(void);
	int (*holds)(const void *, size_t);
	void (*handles)(int);
	unsigned (*enqueue)(cudaStream_t, unsigned (*run)(const void *), const void *, size_t);
	long products; // done
};

extern Host host;

// What lies in the opaque parts.
struct Layout {
	unsigned type;
	uint64_t rows, columns;
	int64_t ld;
};

struct Desc {
	unsigned compute, scale;
	int transa, transb;
};

// Product is one that is enqueued, and in an algorithm the sizes that it was chosen for.
struct Product {
	uint64_t m, n, k;
	const uint16_t *a, *w;
	float *d;
	void *workspace;
	size_t workspace_bytes;
};

// valid tells whether a description and layouts are of a product that this library has.
bool valid(const Desc &desc, const Layout &w, const Layout &a, const Layout &c, const Layout &d);

// workspace is how many bytes a product takes beside.
size_t workspace(const Product &p);

// compute does a product; the answer is the driver's.
unsigned compute(const void *product);

} // namespace lt
