package main

import (
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cbactor/cbactor/gpuexec/nvmlinfo"
)

// gpuMetrics reads what the machine's GPUs do when somebody asks for metrics.
type gpuMetrics struct {
	read func() ([]nvmlinfo.GPU, error)
}

var _ prometheus.Collector = gpuMetrics{}

// gpuNumber is a number that a GPU has.
type gpuNumber struct {
	desc *prometheus.Desc
	of   func(*nvmlinfo.GPU) float64 // NaN: it does not tell
}

func newGPUNumber(name, help string, of func(*nvmlinfo.GPU) float64) gpuNumber {
	return gpuNumber{prometheus.NewDesc("cbactor_gpu_"+name, help, []string{"gpu", "uuid", "model"}, nil), of}
}

var gpuNumbers = []gpuNumber{
	newGPUNumber("memory_bytes", "Memory of a GPU.", func(g *nvmlinfo.GPU) float64 { return float64(g.Memory) }),
	newGPUNumber("memory_used_bytes", "Of it what all processes and the driver have.", func(g *nvmlinfo.GPU) float64 { return float64(g.Used) }),
	newGPUNumber("busy_ratio", "Share of the last moments in which a kernel ran, from 0 to 1.", func(g *nvmlinfo.GPU) float64 { return g.Busy }),
	newGPUNumber("memory_busy_ratio", "Share of the last moments in which memory was read or written, from 0 to 1.", func(g *nvmlinfo.GPU) float64 { return g.MemoryBusy }),
	newGPUNumber("temperature_celsius", "Temperature of a GPU.", func(g *nvmlinfo.GPU) float64 { return g.Celsius }),
	newGPUNumber("power_watts", "Power that a GPU's board draws.", func(g *nvmlinfo.GPU) float64 { return g.Watts }),
	newGPUNumber("power_limit_watts", "Power at which a GPU slows down.", func(g *nvmlinfo.GPU) float64 { return g.WattsLimit }),
	newGPUNumber("clock_hertz", "Clock of a GPU's multiprocessors.", func(g *nvmlinfo.GPU) float64 { return g.Hertz }),
}

// Describe implements prometheus.Collector.
func (m gpuMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, n := range gpuNumbers {
		to <- n.desc
	}
}

// Collect implements prometheus.Collector. A GPU that does not answer has no numbers, which is what
// alarms are made of: the page is there all the same.
func (m gpuMetrics) Collect(to chan<- prometheus.Metric) {
	gpus, _ := m.read()
	for i := range gpus {
		g := &gpus[i]
		for _, n := range gpuNumbers {
			if v := n.of(g); !math.IsNaN(v) {
				to <- prometheus.MustNewConstMetric(n.desc, prometheus.GaugeValue, v, strconv.Itoa(g.Index), g.UUID, g.Name)
			}
		}
	}
}
