//go:build nvml && cgo && linux

package nvmlinfo

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
)

// machine is eight H200, which tell what the mock leaves open. The second tells neither how busy
// it is nor its power.
func machine() *server.Server {
	s := dgxh200.New()
	for i := range s.Devices {
		d := s.Devices[i].(*server.Device)
		d.MemoryInfo.Used = uint64(i) << 30
		yes := nvml.SUCCESS
		if i == 1 {
			yes = nvml.ERROR_NOT_SUPPORTED
		}
		d.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{Gpu: 75, Memory: 50}, yes }
		d.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 40 + uint32(i), nvml.SUCCESS }
		d.GetPowerUsageFunc = func() (uint32, nvml.Return) { return 350500, yes }
		d.GetEnforcedPowerLimitFunc = func() (uint32, nvml.Return) { return 700000, nvml.SUCCESS }
		d.GetClockInfoFunc = func(nvml.ClockType) (uint32, nvml.Return) { return 1980, nvml.SUCCESS }
	}
	return s
}

func TestGPUs(t *testing.T) {
	s := machine()
	r, err := open(s)
	if err != nil {
		t.Fatal(err)
	}
	gpus, err := r.GPUs()
	if err != nil || len(gpus) != 8 {
		t.Fatalf("%d GPUs: %v", len(gpus), err)
	}
	want := GPU{Index: 3, UUID: s.Devices[3].(*server.Device).UUID, Name: "NVIDIA H200 141GB HBM3e", Memory: 151397597184, Used: 3 << 30,
		Busy: 0.75, MemoryBusy: 0.5, Celsius: 43, Watts: 350.5, WattsLimit: 700, Hertz: 1.98e9}
	if gpus[3] != want {
		t.Errorf("%+v, want %+v", gpus[3], want)
	}
	if !strings.HasPrefix(want.UUID, "GPU-") {
		t.Errorf("a UUID of %q", want.UUID)
	}
	if g := gpus[1]; !math.IsNaN(g.Busy) || !math.IsNaN(g.MemoryBusy) || !math.IsNaN(g.Watts) || g.WattsLimit != 700 || g.Celsius != 41 {
		t.Errorf("of one that does not tell all: %+v", g)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.GPUs(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after Close: %v", err)
	}
}

// A GPU that fell off its bus hides no other one.
func TestLostGPU(t *testing.T) {
	s := machine()
	all := s.DeviceGetHandleByIndexFunc
	s.DeviceGetHandleByIndexFunc = func(i int) (nvml.Device, nvml.Return) {
		if i == 2 {
			return nil, nvml.ERROR_GPU_IS_LOST
		}
		return all(i)
	}
	r, err := open(s)
	if err != nil {
		t.Fatal(err)
	}
	gpus, err := r.GPUs()
	if !errors.Is(err, nvml.ERROR_GPU_IS_LOST) || !strings.Contains(err.Error(), "GPU 2") || len(gpus) != 7 || gpus[2].Index != 3 {
		t.Errorf("%d GPUs: %v", len(gpus), err)
	}
}

// Where Init fails nothing else is called: the mock would panic, the library end the process.
func TestNoNVML(t *testing.T) {
	s := &server.Server{}
	s.InitFunc = func() nvml.Return { return nvml.ERROR_DRIVER_NOT_LOADED }
	if _, err := open(s); !errors.Is(err, ErrUnavailable) || !errors.Is(err, nvml.ERROR_DRIVER_NOT_LOADED) {
		t.Errorf("%v", err)
	}
}

// On a machine without a driver the real binding says so.
func TestOpen(t *testing.T) {
	r, err := Open()
	if err == nil { // there is one here
		if _, err := r.GPUs(); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	if !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
}
