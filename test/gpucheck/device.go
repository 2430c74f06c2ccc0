package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cubin"
)

// answers is how long a driver has to describe its first device.
const answers = time.Minute

// describe describes the device that is checked. A driver that does not answer is left behind.
func describe(ctx context.Context, driver string) (string, error) {
	type answer struct {
		device string
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		device, err := first(driver)
		answered <- answer{device, err}
	}()
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	select {
	case a := <-answered:
		return a.device, a.err
	case <-ctx.Done():
		return "", fmt.Errorf("%s does not answer: %w: see what nvidia-smi says", driver, ctx.Err())
	}
}

// first describes a driver's first device, which there must be kernels for.
func first(driver string) (string, error) {
	lib, err := cuda.Open(driver)
	if err != nil {
		return "", err
	}
	d, err := lib.Device(0)
	if err != nil {
		return "", err
	}
	if err := cubin.Check(d.Major, d.Minor); err != nil {
		return "", fmt.Errorf("%s: %w", d.Name, err)
	}
	return fmt.Sprintf("%s, compute capability %d.%d", d.Name, d.Major, d.Minor), nil
}
