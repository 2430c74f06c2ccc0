package nvmlinfo

import "errors"

// ErrUnavailable means that there is no NVML to ask; the error that wraps it says why.
var ErrUnavailable = errors.New("nvmlinfo: no NVML")

// GPU is what NVML tells of one. Numbers that this GPU, or a part of one (MIG), does not tell are
// NaN.
type GPU struct {
	Index  int    // of NVML, which counts those that CUDA_VISIBLE_DEVICES hides, too
	UUID   string // as cuda.Device has it
	Name   string
	Memory uint64 // bytes
	Used   uint64 // of them, by all processes, and reserved by the driver

	Busy       float64 // share of the last moments in which a kernel ran, 0 to 1
	MemoryBusy float64 // in which memory was read or written
	Celsius    float64
	Watts      float64 // of the whole board
	WattsLimit float64 // from which it slows down
	Hertz      float64 // of the multiprocessors' clock
}
