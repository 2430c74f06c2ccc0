package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/gpuexec"
)

// Device says where an engine computes.
type Device string

const (
	AnyDevice Device = "auto" // on the first NVIDIA GPU that can, else on the CPU
	OnTheCPU  Device = "cpu"
	FirstGPU  Device = "cuda" // on the first NVIDIA GPU that can; cuda:1 is on the second
)

// MarshalText implements encoding.TextMarshaler.
func (d Device) MarshalText() ([]byte, error) { return []byte(d), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Device) UnmarshalText(text []byte) error {
	if err := Device(text).check(); err != nil {
		return err
	}
	*d = Device(text)
	return nil
}

func (d Device) check() error {
	if _, gpu := d.Ordinal(); !gpu && d != AnyDevice && d != OnTheCPU {
		return errors.New("must be auto, cpu, cuda, or cuda:N with a device from 0")
	}
	return nil
}

// Ordinal is which GPU a device is, as gpuexec.Open takes it; !gpu: it is none.
func (d Device) Ordinal() (ordinal int, gpu bool) {
	if d == FirstGPU {
		return gpuexec.First, true
	}
	digits, gpu := strings.CutPrefix(string(d), "cuda:")
	n, err := strconv.ParseUint(digits, 10, 16)
	return int(n), gpu && err == nil
}

// resolve decides every field for the device that is asked for, or the best there is.
func resolve(cfg Config, has memory) (*Resolved, error) {
	if err := fieldNamed("device").check(&cfg); err != nil {
		return nil, fieldNamed("device").wrong(string(cfg.Device), err)
	}
	if cfg.Executor != nil || cfg.Device == OnTheCPU {
		return resolveOn(cfg, has, choice{device: OnTheCPU})
	}
	ordinal, asked := cfg.Device.Ordinal()
	if !asked {
		return resolveOnAny(cfg, has)
	}
	gpu, err := gpuexec.Open(ordinal)
	if err != nil {
		return nil, fmt.Errorf("%w: device is %s (%s): %w, or take device cpu", ErrDevice, cfg.Device, cmp.Or(cfg.from.by["device"], theProgram), err)
	}
	return resolveOn(cfg, has, gpuAs(gpu, ""))
}

// resolveOnAny decides for the first GPU, if it computes all that is asked for, and else for
// the CPU.
func resolveOnAny(cfg Config, has memory) (*Resolved, error) {
	gpu, err := gpuexec.Open(gpuexec.First)
	if errors.Is(err, gpuexec.ErrLibrary) { // whoever has named a driver means to use it
		return nil, fmt.Errorf("%w: %w", ErrDevice, err)
	}
	if err != nil {
		return resolveOn(cfg, has, choice{device: OnTheCPU, because: reason(err)})
	}
	r, err := resolveOn(cfg, has, gpuAs(gpu, "the first GPU that can compute"))
	if err == nil || errors.Is(err, cublaslt.ErrUnavailable) { // which no CPU makes up for
		return r, err
	}
	on := choice{device: OnTheCPU, because: fmt.Sprintf("cuda:%d is passed over: %s", gpu.Ordinal, reason(err))}
	if not := (*notOnGPU)(nil); errors.As(err, &not) {
		on.told = not.field
	}
	if r, err = resolveOn(cfg, has, on); err == nil {
		r.notice("device is cpu: %s", on.because)
	}
	return r, err
}

// choice is where an engine computes.
type choice struct {
	device  Device
	because string       // "": it is asked for
	gpu     *cuda.Device // nil: it is the CPU
	told    string       // field that because is about, whatever its effect; "": none
}

func gpuAs(gpu *cuda.Device, because string) choice {
	return choice{device: Device(fmt.Sprintf("cuda:%d", gpu.Ordinal)), because: because, gpu: gpu}
}
