//go:build nvml && cgo && linux

package nvmlinfo

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// Reader asks NVML.
type Reader struct {
	mu     sync.RWMutex // held for reading by who calls the library
	lib    nvml.Interface
	closed bool
}

// Open loads NVML, which comes with the driver. Errors wrap ErrUnavailable.
func Open() (*Reader, error) { return open(nvml.New()) }

func open(lib nvml.Interface) (*Reader, error) {
	if r := lib.Init(); r != nvml.SUCCESS {
		return nil, fmt.Errorf("%w: Init: %w: install NVIDIA's driver, or load it", ErrUnavailable, r)
	}
	return &Reader{lib: lib}, nil
}

// Close gives the library back. It is called once.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return check("Shutdown", r.lib.Shutdown())
}

// GPUs reads all of them, in NVML's order. One that does not answer, as it was lost, is left out,
// and the error says so.
func (r *Reader) GPUs() ([]GPU, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return nil, fmt.Errorf("%w: it was closed", ErrUnavailable)
	}
	n, result := r.lib.DeviceGetCount()
	if err := check("DeviceGetCount", result); err != nil {
		return nil, err
	}
	var gpus []GPU
	var errs []error
	for i := range n {
		g, err := r.read(i)
		if err != nil {
			errs = append(errs, fmt.Errorf("GPU %d: %w", i, err))
			continue
		}
		gpus = append(gpus, g)
	}
	return gpus, errors.Join(errs...)
}

// read reads one.
func (r *Reader) read(index int) (g GPU, err error) {
	d, result := r.lib.DeviceGetHandleByIndex(index)
	if err := check("DeviceGetHandleByIndex", result); err != nil {
		return g, err
	}
	g.Index = index
	if g.UUID, result = d.GetUUID(); result != nvml.SUCCESS {
		return g, check("DeviceGetUUID", result)
	}
	if g.Name, result = d.GetName(); result != nvml.SUCCESS {
		return g, check("DeviceGetName", result)
	}
	memory, result := d.GetMemoryInfo()
	if err := check("DeviceGetMemoryInfo", result); err != nil {
		return g, err
	}
	g.Memory, g.Used = memory.Total, memory.Used

	busy, result := d.GetUtilizationRates() // in percent
	g.Busy, g.MemoryBusy = told(busy.Gpu, result)/100, told(busy.Memory, result)/100
	g.Celsius = told(d.GetTemperature(nvml.TEMPERATURE_GPU))
	g.Watts = told(d.GetPowerUsage()) / 1e3 // in milliwatts
	g.WattsLimit = told(d.GetEnforcedPowerLimit()) / 1e3
	g.Hertz = told(d.GetClockInfo(nvml.CLOCK_SM)) * 1e6 // in megahertz
	return g, nil
}

// told is a number, or NaN where there is none.
func told(n uint32, result nvml.Return) float64 {
	if result != nvml.SUCCESS {
		return math.NaN()
	}
	return float64(n)
}

// check makes an error of a result.
func check(call string, result nvml.Return) error {
	if result == nvml.SUCCESS {
		return nil
	}
	return fmt.Errorf("nvmlinfo: %s: %w", call, result)
}
