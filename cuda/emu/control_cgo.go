//go:build cgo && linux

package emu

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

typedef struct { long launches, graphs, copies, waits, allocations, handles; } counts;

static void configure(void *f, const char *runner, const char *ptx, int schedule, int protect, int order, int version, int devices, int capability,
	unsigned long long memory) {
	((void (*)(const char *, const char *, int, int, int, int, int, int, unsigned long long))f)(runner, ptx, schedule, protect, order, version, devices, capability, memory);
}
static void count(void *f, counts *c) { ((void (*)(counts *))f)(c); }
static void fail(void *f, unsigned code) { ((void (*)(unsigned))f)(code); }
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

const hasControl = true

// control is what the fake driver has beside the functions of a driver.
type control struct {
	handle unsafe.Pointer
}

func newControl(path string) (*control, error) {
	runtime.LockOSThread() // to which the linker tells what is wrong
	defer runtime.UnlockOSThread()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	h := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if h == nil {
		return nil, fmt.Errorf("emu: %s", C.GoString(C.dlerror()))
	}
	return &control{handle: h}, nil
}

func (c *control) symbol(name string) unsafe.Pointer {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return C.dlsym(c.handle, n)
}

func (c *control) configure(o Options, runner string) {
	r, p := C.CString(runner), C.CString(o.PTX)
	defer C.free(unsafe.Pointer(r))
	defer C.free(unsafe.Pointer(p))
	C.configure(c.symbol("fake_configure"), r, p, C.int(o.Schedule), number(o.Protect), C.int(o.Order),
		C.int(o.Version), C.int(o.Devices), C.int(o.Capability), C.ulonglong(o.Memory))
}

func (c *control) counts() Counts {
	var n C.counts
	C.count(c.symbol("fake_counts"), &n)
	return Counts{
		Launches: int(n.launches), Graphs: int(n.graphs), Copies: int(n.copies), Waits: int(n.waits),
		Allocations: int(n.allocations), Handles: int(n.handles),
	}
}

func (c *control) fail(code int) { C.fail(c.symbol("fake_fail"), C.uint(code)) }

func number(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
