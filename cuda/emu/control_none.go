//go:build !cgo || !linux

package emu

import "errors"

const hasControl = false

// control is what there is none of in this build: tests are skipped before they ask for one.
type control struct{}

func newControl(string) (*control, error) {
	return nil, errors.New("emu: this test was built without cgo or not for Linux")
}

func (*control) configure(Options, string) {}

func (*control) counts() Counts { return Counts{} }

func (*control) fail(int) {}
