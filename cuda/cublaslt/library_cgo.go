//go:build cgo && linux

package cublaslt

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// The functions, in the order of names. Handles are pointers to what the library alone knows.
typedef struct {
	int (*create)(void **);
	int (*destroy)(void *);
	size_t (*version)(void);
	int (*desc_create)(void **, int compute, int scale);
	int (*desc_destroy)(void *);
	int (*desc_set)(void *, int attribute, const void *, size_t);
	int (*layout_create)(void **, int type, uint64_t rows, uint64_t columns, int64_t ld);
	int (*layout_destroy)(void *);
	int (*preference_create)(void **);
	int (*preference_destroy)(void *);
	int (*preference_set)(void *, int attribute, const void *, size_t);
	int (*heuristic)(void *lt, void *desc, void *a, void *b, void *c, void *d, void *preference, int most, void *results, int *found);
	int (*matmul)(void *lt, void *desc, const void *alpha, const void *a, void *a_layout, const void *b, void *b_layout, const void *beta,
		const void *c, void *c_layout, void *d, void *d_layout, const void *algorithm, void *workspace, size_t bytes, void *stream);
} functions;

// Enumerations of library_types.h and cublasLt.h.
enum { R_32F = 0, R_16BF = 14, COMPUTE_32F = 68, OP_T = 1, DESC_TRANSA = 3, PREFERENCE_WORKSPACE = 1 };

// cublasLtMatmulHeuristicResult_t.
typedef struct {
	uint64_t algorithm[8];
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
} answer;

// A product's layouts and algorithm, and the workspace that it takes.
typedef struct {
	void *w, *a, *d;
	uint64_t algorithm[8];
	size_t workspace;
} product;

// TRY leaves a function with the status of a call that failed, and its place in names.
#define TRY(place, call) \
	if ((status = (call))) { \
		*failed = place; \
		goto out; \
	}

static int lt_open(const functions *f, void **lt, void **desc, int *failed) {
	int status, transposed = OP_T;
	TRY(0, f->create(lt));
	TRY(3, f->desc_create(desc, COMPUTE_32F, R_32F));
	TRY(5, f->desc_set(*desc, DESC_TRANSA, &transposed, sizeof transposed));
out:
	return status;
}

static int lt_plan(const functions *f, void *lt, void *desc, int m, int n, int k, uint64_t bytes, product *p, int *failed) {
	int status, found = 0;
	void *preference = 0;
	answer best = {{0}};
	TRY(6, f->layout_create(&p->w, R_16BF, k, n, k));
	TRY(6, f->layout_create(&p->a, R_16BF, k, m, k));
	TRY(6, f->layout_create(&p->d, R_32F, n, m, n));
	TRY(8, f->preference_create(&preference));
	TRY(10, f->preference_set(preference, PREFERENCE_WORKSPACE, &bytes, sizeof bytes));
	TRY(11, f->heuristic(lt, desc, p->w, p->a, p->d, p->d, preference, 1, &best, &found));
	TRY(11, found < 1 ? 15 : best.status);
	for (int i = 0; i < 8; i++) p->algorithm[i] = best.algorithm[i];
	p->workspace = best.workspace;
out:
	if (preference) f->preference_destroy(preference); // which cannot fail on one that was made
	return status;
}

static const float one = 1, zero = 0;

#cgo noescape lt_run
#cgo nocallback lt_run
static int lt_run(const functions *f, void *lt, void *desc, const product *p, uintptr_t d, uintptr_t a, uintptr_t w, uintptr_t workspace, uintptr_t stream) {
	return f->matmul(lt, desc, &one, (void *)w, p->w, (void *)a, p->a, &zero, (void *)d, p->d, (void *)d, p->d, p->algorithm,
		(void *)workspace, p->workspace, (void *)stream);
}

static int lt_destroy(int (*destroy)(void *), void *what) { return what ? destroy(what) : 0; }
static int lt_close(const functions *f, void *lt, void *desc, int *failed) {
	int status;
	TRY(4, lt_destroy(f->desc_destroy, desc));
	TRY(1, lt_destroy(f->destroy, lt));
out:
	return status;
}
static int lt_forget(const functions *f, product *p, int *failed) {
	int status;
	TRY(7, lt_destroy(f->layout_destroy, p->w));
	TRY(7, lt_destroy(f->layout_destroy, p->a));
	TRY(7, lt_destroy(f->layout_destroy, p->d));
out:
	return status;
}
static size_t lt_version(const functions *f) { return f->version(); }
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/cbactor/cbactor/cuda"
)

// functions is where the library's functions are.
type functions struct{ c C.functions }

func openLibrary(path string) (*functions, error) {
	runtime.LockOSThread() // to which the linker tells what is wrong
	defer runtime.UnlockOSThread()
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	handle := C.dlopen(p, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		return nil, fmt.Errorf("%s", C.GoString(C.dlerror()))
	}
	f := new(functions)
	table := (*[len(names)]unsafe.Pointer)(unsafe.Pointer(&f.c))
	for i, name := range names {
		n := C.CString(name)
		table[i] = C.dlsym(handle, n)
		C.free(unsafe.Pointer(n))
		if table[i] == nil {
			return nil, fmt.Errorf("%s: %w: no %s", path, errNoFunction, name)
		}
	}
	return f, nil
}

func (f *functions) version() int { return int(C.lt_version(&f.c)) }

// native is what the library has of a handle.
type native struct{ lt, desc unsafe.Pointer }

func (f *functions) open() (n native, err error) {
	var failed C.int
	status := C.lt_open(&f.c, &n.lt, &n.desc, &failed)
	return n, check(status, failed)
}

func (f *functions) close(n native) error {
	var failed C.int
	status := C.lt_close(&f.c, n.lt, n.desc, &failed)
	return check(status, failed)
}

// plan is what the library has of a product.
type plan struct{ c C.product }

func (f *functions) plan(n native, rows, columns, inner int, p *plan) error {
	var failed C.int
	status := C.lt_plan(&f.c, n.lt, n.desc, C.int(rows), C.int(columns), C.int(inner), Workspace, &p.c, &failed)
	return check(status, failed)
}

func (f *functions) run(n native, p *plan, out, a, w, workspace cuda.Pointer, stream uintptr) error {
	status := C.lt_run(&f.c, n.lt, n.desc, &p.c, C.uintptr_t(out), C.uintptr_t(a), C.uintptr_t(w), C.uintptr_t(workspace), C.uintptr_t(stream))
	return check(status, C.int(len(names)-1))
}

func (f *functions) forget(p *plan) error {
	var failed C.int
	status := C.lt_forget(&f.c, &p.c, &failed)
	return check(status, failed)
}

// check makes an error of the status of a function, by its place.
func check(status, place C.int) error {
	if status == 0 {
		return nil
	}
	return &Error{Call: names[place], Status: int(status)}
}
