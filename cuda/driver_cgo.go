//go:build cgo && linux

package cuda

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// Functions of the driver take integers and pointers only, eleven at most, so one
// trampoline serves them all: who takes fewer ignores the rest. An argument whose bit is set
// in "out" is passed by its address in "a"; argument "at" is the pointer p.
typedef uintptr_t word;
#cgo noescape cbactor_cuda_call
#cgo nocallback cbactor_cuda_call
static unsigned cbactor_cuda_call(void *f, word *a, unsigned out, int at, void *p) {
	word v[11];
	for (int i = 0; i < 11; i++) v[i] = out >> i & 1 ? (word)&a[i] : a[i];
	if (at >= 0) v[at] = (word)p;
	return ((unsigned (*)(word, word, word, word, word, word, word, word, word, word, word))f)(
		v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10]);
}

// A launch takes the address of each of the kernel's arguments. A null pointer follows them, at
// which a driver that wants more than there are stops, rather than at whatever lies there.
#cgo noescape cbactor_cuda_launch
#cgo nocallback cbactor_cuda_launch
static unsigned cbactor_cuda_launch(void *f, const word *a, uint64_t *args, int n) {
	void *p[65];
	for (int i = 0; i < n; i++) p[i] = &args[i];
	p[n] = 0;
	return ((unsigned (*)(word, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, word, void **, void **))f)(
		a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], p, 0);
}

// cuGetProcAddress of CUDA 12.0; the symbol's status, the last argument, may be left out.
static void *cbactor_cuda_find(void *f, const char *name) {
	void *found = 0;
	unsigned r = ((unsigned (*)(const char *, void **, int, uint64_t, void *))f)(name, &found, 12000, 0, 0);
	return r ? 0 : found;
}
*/
import "C"

import "unsafe"

// Supported says whether this build can call a driver.
const Supported = true

// driver is a driver that was opened: the addresses of its functions. It stays open for
// the life of the process, as the driver's own threads do.
type driver struct {
	at [functions]unsafe.Pointer
}

func openDriver(path string) (*driver, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	handle := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		return nil, noDriver(C.GoString(C.dlerror()))
	}
	find := C.CString("cuGetProcAddress_v2")
	defer C.free(unsafe.Pointer(find))
	lookup := C.dlsym(handle, find)
	if lookup == nil {
		return nil, noDriver(path + " has no cuGetProcAddress_v2")
	}
	d := new(driver)
	for f, n := range names {
		if d.at[f] = address(lookup, n); d.at[f] == nil {
			return nil, noDriver(path + " has no " + n + " of CUDA 12.0")
		}
	}
	return d, nil
}

func address(lookup unsafe.Pointer, name string) unsafe.Pointer {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return C.cbactor_cuda_find(lookup, n)
}

// call calls f with arguments a. Those whose bits are set in out are written by the
// driver, into a. Where at is no negative number, that argument is the pointer p.
func (d *driver) call(f function, a *[11]uintptr, out uint32, at int, p unsafe.Pointer) int {
	return int(C.cbactor_cuda_call(d.at[f], (*C.word)(unsafe.Pointer(a)), C.uint(out), C.int(at), p))
}

// launch calls cuLaunchKernel with a, its first nine arguments, and those of the kernel.
func (d *driver) launch(a *[9]uintptr, args []Arg) int {
	return int(C.cbactor_cuda_launch(d.at[cuLaunchKernel], (*C.word)(unsafe.Pointer(a)),
		(*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(args))), C.int(len(args))))
}

// text is the text at an address of the driver's, which ends with a zero.
func text(at uintptr) string {
	return C.GoString(*(**C.char)(unsafe.Pointer(&at)))
}
