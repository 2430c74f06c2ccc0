package main

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/gpuexec/nvmlinfo"
)

func TestDevices(t *testing.T) {
	t.Setenv(gpuexec.Library, emu.New(t, emu.Options{Devices: 2, Memory: 3 << 30, Capability: 80}).Path)
	d, err := findDevices()
	if err != nil {
		t.Fatal(err)
	}
	plain := "Devices, of a driver for CUDA 13.0\n" +
		"  cuda:0  CPU as a GPU  capability 8.0  3.0 GiB    GPU-00010203-0405-0607-0809-0a0b0c0d0e0f\n" +
		"  cuda:1  CPU as a GPU  capability 8.0  3.0 GiB    GPU-10111213-1415-1617-1819-1a1b1c1d1e1f\n"
	if got := d.String(); got != plain {
		t.Errorf("%s, want %s", got, plain)
	}
	d.addReadings([]nvmlinfo.GPU{ // in another order than the driver's
		{UUID: d.Devices[1].UUID, Used: 1 << 30, Busy: 0.5, Celsius: 41, Watts: 99.6},
		{UUID: "GPU-of-others", Busy: 1},
		{UUID: d.Devices[0].UUID, Busy: math.NaN(), Celsius: 30, Watts: math.NaN()},
	})
	for _, want := range []string{"cuda:0", "0.0 GiB of 3.0 GiB in use  30 °C ", "1.0 GiB of 3.0 GiB in use  50 % busy, 41 °C, 100 W  GPU-1011"} {
		if got := d.String(); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestNoDevices(t *testing.T) {
	t.Setenv(gpuexec.Library, "libnothing.so.1")
	if _, err := findDevices(); !errors.Is(err, cuda.ErrUnavailable) {
		t.Error(err)
	}
}
