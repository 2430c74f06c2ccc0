//go:build !cgo || !linux

package emu

// ltControl is what there is none of in this build, as of control.
type ltControl struct{}

func newLtControl(path, _ string) (*ltControl, error) {
	_, err := newControl(path)
	return nil, err
}

func (*ltControl) products() int { return 0 }
