package main

import (
	"errors"
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cbactor/cbactor/gpuexec/nvmlinfo"
)

func TestGPUMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(gpuMetrics{func() ([]nvmlinfo.GPU, error) {
		return []nvmlinfo.GPU{
			{Index: 1, UUID: "GPU-a", Name: "H200", Memory: 1000, Used: 300, Busy: 0.25, MemoryBusy: 0.5, Celsius: 40, Watts: 350, WattsLimit: 700, Hertz: 2e9},
			{Index: 3, UUID: "GPU-b", Name: "H200", Busy: math.NaN(), MemoryBusy: math.NaN(), Watts: math.NaN(), WattsLimit: math.NaN(), Hertz: math.NaN()},
		}, errors.New("GPU 2 is lost")
	}})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			labels := ""
			for _, l := range m.Label {
				labels += " " + l.GetName() + "=" + l.GetValue()
			}
			got[f.GetName()+labels] = m.Gauge.GetValue()
		}
	}
	for name, want := range map[string]float64{
		"cbactor_gpu_memory_bytes gpu=1 model=H200 uuid=GPU-a": 1000, "cbactor_gpu_memory_used_bytes gpu=1 model=H200 uuid=GPU-a": 300,
		"cbactor_gpu_busy_ratio gpu=1 model=H200 uuid=GPU-a": 0.25, "cbactor_gpu_memory_busy_ratio gpu=1 model=H200 uuid=GPU-a": 0.5,
		"cbactor_gpu_temperature_celsius gpu=1 model=H200 uuid=GPU-a": 40, "cbactor_gpu_temperature_celsius gpu=3 model=H200 uuid=GPU-b": 0,
		"cbactor_gpu_power_watts gpu=1 model=H200 uuid=GPU-a": 350, "cbactor_gpu_power_limit_watts gpu=1 model=H200 uuid=GPU-a": 700,
		"cbactor_gpu_clock_hertz gpu=1 model=H200 uuid=GPU-a": 2e9,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %g (%t), want %g", name, value, ok, want)
		}
	}
	if len(got) != 8+3 {
		t.Errorf("what is not known is told: %v", got)
	}
}
