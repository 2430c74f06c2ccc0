//go:build cgo && linux

package emu

/*
static int use(void *f, const char *driver) { return ((int (*)(const char *))f)(driver); }
static long products(void *f) { return ((long (*)(void))f)(); }
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// ltControl is what the fake cublasLt has beside the functions of the library.
type ltControl struct{ *control }

// newLtControl opens the library and tells it which driver it is over.
func newLtControl(path, driver string) (*ltControl, error) {
	c, err := newControl(path)
	if err != nil {
		return nil, err
	}
	d := C.CString(driver)
	defer C.free(unsafe.Pointer(d))
	if C.use(c.symbol("fake_lt_use"), d) != 0 {
		return nil, fmt.Errorf("emu: %s is no fake driver", driver)
	}
	return &ltControl{c}, nil
}

func (c *ltControl) products() int { return int(C.products(c.symbol("fake_lt_products"))) }
