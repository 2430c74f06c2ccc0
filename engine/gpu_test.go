package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/gpuexec"
)

// withGPU lets the test find a GPU: a driver that is no other test's.
func withGPU(t *testing.T, o emu.Options) *emu.Driver {
	t.Helper()
	d := emu.New(t, o)
	t.Setenv(gpuexec.Library, d.Path)
	return d
}

// TestDevices chooses a device: auto takes the first GPU that computes what is asked for and says
// why it takes another, and one that is asked for by name is taken or refused.
func TestDevices(t *testing.T) {
	on := func(name Device, change func(*Config)) Config {
		cfg := Config{Checkpoint: tiny(t), Device: name}
		if change != nil {
			change(&cfg)
		}
		return cfg
	}
	f32 := func(c *Config) { c.Compute = "f32" }
	for name, c := range map[string]struct {
		driver    emu.Options
		cfg       Config
		want      string // "": refused
		from, err string // parts
		class     error
		notice    string
	}{
		"the first":            {emu.Options{}, on("", nil), "cuda:0", "the first GPU that can compute", "", nil, ""},
		"auto":                 {emu.Options{}, on(AnyDevice, nil), "cuda:0", "the first GPU that can compute", "", nil, ""},
		"the CPU":              {emu.Options{}, on(OnTheCPU, nil), "cpu", "the program", "", nil, ""},
		"by name":              {emu.Options{}, on(FirstGPU, nil), "cuda:0", "the program", "", nil, ""},
		"by number":            {emu.Options{Devices: 2}, on("cuda:1", nil), "cuda:1", "the program", "", nil, ""},
		"none of that number":  {emu.Options{Devices: 2}, on("cuda:2", nil), "", "", "device is cuda:2 (the program): there are 2 GPUs, cuda:0 to cuda:1: take one of them (`cbactor devices` lists them), or take device cpu", ErrDevice, ""},
		"none but the first":   {emu.Options{}, on("cuda:1", nil), "", "", "device is cuda:1 (the program): there is one GPU, cuda:0: take that (`cbactor devices` lists them), or take device cpu", ErrDevice, ""},
		"no device":            {emu.Options{Devices: -1}, on("", nil), "cpu", "no NVIDIA device: the driver finds none", "", nil, ""},
		"no device, asked for": {emu.Options{Devices: -1}, on("cuda", nil), "", "", "attach an NVIDIA GPU", ErrDevice, ""},
		"too old":              {emu.Options{Capability: 75}, on("", nil), "cpu", "cuda:0, CPU as a GPU: no kernels for this device: its compute capability is 7.5, and 8.0 is the least", "", nil, ""},
		"too old, asked for":   {emu.Options{Capability: 75}, on("cuda", nil), "", "", "7.5, and 8.0 is the least: take another GPU, or take device cpu", ErrDevice, ""},
		"too small":            {emu.Options{Memory: 1 << 20}, on("", nil), "cpu", "cuda:0 is passed over: not enough memory", "", nil, "device is cpu: cuda:0 is passed over"},
		"too small, asked for": {emu.Options{Memory: 1 << 20}, on("cuda", nil), "", "", "max_memory_percent 0.6 of the 1048576 free on cuda:0", ErrMemory, ""},
		"f32":                  {emu.Options{}, on("", f32), "cpu", "cuda:0 is passed over: compute is f32 (the program), a GPU computes in bf16", "", nil, "device is cpu: cuda:0 is passed over: compute is f32 (the program), a GPU computes in bf16"},
		"f32, asked for":       {emu.Options{}, on("cuda", f32), "", "", "compute is f32 (the program), a GPU computes in bf16", ErrConfig, ""},
		"cache in int8":        {emu.Options{}, on("cuda", func(c *Config) { c.KVDType = "int8" }), "", "", "kv_dtype is int8", ErrConfig, ""},
		"quantised":            {emu.Options{}, on("cuda", func(c *Config) { c.Quantize = "q4" }), "cuda:0", "", "", nil, "quantize is q4: 43 matrices stored as BF16 are quantised"},
		"columns":              {emu.Options{}, on("cuda", func(c *Config) { c.Quantize = "column" }), "", "", "quantize is column (the program), which acts on a CPU, with compute int8: take q8 or q4, or take device cpu", ErrConfig, ""},
		"columns, anywhere":    {emu.Options{}, on("", func(c *Config) { c.Quantize = "column" }), "cpu", "cuda:0 is passed over", "", nil, "device is cpu: cuda:0 is passed over: quantize is column (the program), which acts on a CPU, with compute int8"},
		"ranks":                {emu.Options{}, on("cuda", func(c *Config) { c.TensorParallelSize = 2 }), "", "", "tensor_parallel_size is 2 (the program), not available yet on a GPU: leave it out, or take device cpu", ErrNotAvailable, ""},
		"ranks, anywhere":      {emu.Options{}, on("", func(c *Config) { c.TensorParallelSize = 2 }), "cpu", "cuda:0 is passed over", "", nil, "device is cpu: cuda:0 is passed over: tensor_parallel_size is 2 (the program), not available yet on a GPU"},
		"adapters":             {emu.Options{}, on("cuda", func(c *Config) { c.MaxAdapters = 1 }), "cuda:0", "", "", nil, ""},
		"a profile":            {emu.Options{}, on("cuda", func(c *Config) { c.Profile = new(cpuexec.Profile) }), "", "", "a profile is of the CPU executor's steps", ErrConfig, ""},
		"threads":              {emu.Options{}, on("cuda", func(c *Config) { c.Threads = 3 }), "cuda:0", "", "", nil, "threads (the program) has no effect here: it acts on a CPU"},
	} {
		t.Run(name, func(t *testing.T) {
			withGPU(t, c.driver)
			r, err := resolve(c.cfg, plenty)
			if c.want == "" {
				if !errors.Is(err, c.class) || !strings.Contains(fmt.Sprint(err), c.err) {
					t.Errorf("%v, want %v: %s", err, c.class, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s, notices := setting(t, r, "device"), strings.Join(r.Notices, "; ")
			if s.Text() != c.want || !strings.Contains(s.From, c.from) || len(r.Notices) > 1 || !strings.Contains(notices, c.notice) || (notices == "") != (c.notice == "") {
				t.Errorf("%s from %q, notices %q", s.Text(), s.From, notices)
			}
		})
	}
}

// TestWrongLibrary has the environment name a driver that is none: an error wherever a GPU might be taken.
func TestWrongLibrary(t *testing.T) {
	t.Setenv(gpuexec.Library, "libnothing.so.1")
	want := "CBACTOR_CUDA_LIBRARY names something that is no driver: correct or unset it (libnothing.so.1"
	if !cuda.Supported {
		want = "CBACTOR_CUDA_LIBRARY is set, and this program was built without cgo, or not for Linux: unset it, or build it with CGO_ENABLED=1"
	}
	for _, device := range []Device{"", AnyDevice, FirstGPU, "cuda:1"} {
		if _, err := resolve(Config{Checkpoint: tiny(t), Device: device}, plenty); !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", device, err)
		}
	}
	if _, err := resolve(Config{Checkpoint: tiny(t), Device: OnTheCPU}, plenty); err != nil {
		t.Error(err)
	}
}

// TestNoDriver asks for a GPU where there is no driver.
func TestNoDriver(t *testing.T) {
	_, err := resolve(Config{Checkpoint: tiny(t), Device: FirstGPU}, plenty)
	if !errors.Is(err, ErrDevice) || !errors.Is(err, cuda.ErrUnavailable) || errors.Is(err, ErrConfig) {
		t.Errorf("%v", err)
	}
	for _, name := range []Device{"gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:99999"} {
		if _, err := resolve(Config{Checkpoint: tiny(t), Device: name}, plenty); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "cuda:N") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSizesOnAGPU plans the memory of a GPU and of its host, which an engine then takes.
func TestSizesOnAGPU(t *testing.T) {
	withGPU(t, emu.Options{Memory: 1 << 30})
	r, err := resolve(Config{Checkpoint: openLlama(t), MaxContext: 64, MaxRequestsPerBatch: 4, MaxBatchTokens: 40, PageSize: 4, CPUOffloadSpace: 0.01}, plenty)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Memory.Device
	if m.Memory != 1<<30 || m.Free > m.Memory || m.Usable != int64(0.6*float64(m.Free)) || m.Executor.Device() > m.Usable {
		t.Errorf("of the device: %+v", m)
	}
	if c := r.Config; c.NumBlocks != 64 || c.WeightSets != 2 || r.Memory.NextSet != r.Memory.WeightSet || r.Memory.Executor.Total() != 0 || m.Executor.Host == 0 {
		t.Errorf("%d blocks, %d sets, memory %+v", c.NumBlocks, c.WeightSets, r.Memory)
	}
	of, err := r.load()
	if err != nil {
		t.Fatal(err)
	}
	made, err := of.next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gpu := made.(*gpuexec.Executor)
	taken, info := gpu.Memory(), gpu.Info()
	if err := gpu.Close(); err != nil {
		t.Error(err)
	}
	if taken.Bound = m.Executor.Bound; taken != m.Executor {
		t.Errorf("taken %+v, planned %+v", taken, m.Executor)
	}
	told, err := r.Info()
	if err != nil || told.Executor != info.Name || told.CacheBytes != taken.KV || told.WeightBytes != taken.Weights || told.Threads != 0 || info.MaxSlots != 4 || info.MaxTokens != 40 {
		t.Errorf("told %+v (%v), the executor has %+v", told, err, info)
	}
}

// TestLittleMemoryOnAGPU has less of the device, or of the host, than is best.
func TestLittleMemoryOnAGPU(t *testing.T) {
	withGPU(t, emu.Options{Memory: 5 << 20})
	base := Config{Checkpoint: openLlama(t), Device: FirstGPU}
	r, err := resolve(base, plenty)
	if err != nil {
		t.Fatal(err)
	}
	if s := setting(t, r, "max_batch_tokens"); r.Config.MaxBatchTokens >= bestOnGPU.tokens || s.From != "max_memory_percent" || r.Config.WeightSets != 1 {
		t.Errorf("%s tokens a step (%s), %d sets", s.Text(), s.From, r.Config.WeightSets)
	}
	if _, err := resolve(base, memory{limit: 2 << 20, resident: 1 << 20}); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "of the host 629145 bytes are usable") {
		t.Errorf("a host that cannot hold the weights: %v", err)
	}
	base.CPUOffloadSpace = 1
	off := 1.0
	base.CPUOffloadSpaceSafetyThreshold = &off
	if _, err := resolve(base, memory{limit: 1 << 29, resident: 1 << 20}); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "cpu_offload_space is 1 GiB") {
		t.Errorf("a host pool that is larger than the host: %v", err)
	}
}

// TestQuantisedOnAGPU has matrices packed on the GPU that are stored so, or are to become so, and says
// which others lose bits.
func TestQuantisedOnAGPU(t *testing.T) {
	withGPU(t, emu.Options{})
	weightsOf := func(change func(*Config)) (int64, string) {
		cfg := Config{Device: FirstGPU}
		change(&cfg)
		r, err := resolve(cfg, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if told, err := r.Info(); err != nil || !strings.HasSuffix(told.Executor, strings.ReplaceAll(" bf16 "+cfg.Quantize+" kv bf16", "  ", " ")) {
			t.Errorf("quantised as %q: %s (%v)", cfg.Quantize, told.Executor, err)
		}
		return r.Memory.Device.Executor.Weights, strings.Join(r.Notices, "; ")
	}
	whole, notice := weightsOf(func(c *Config) { c.Checkpoint = storedAs(t, "bf16") })
	if notice != "" {
		t.Error(notice)
	}
	for _, c := range []struct {
		stored, quantize string
		bits             float64 // of a matrix's number
		notice           string
	}{
		{"f32", "", 16, "compute is bf16: 29 matrices stored as F32 are rounded"}, {"q8_0", "", 8.5, ""}, {"q4_1", "", 5, ""},
		{"bf16", "q8", 8.5, "quantize is q8: 29 matrices stored as BF16 are quantised"}, {"f32", "q4", 5, "quantize is q4: 29 matrices stored as F32 are quantised"},
		{"q4_1", "q8", 5, "quantize is q8 (the program) without effect: no matrix of the model is stored as floats"},
	} {
		got, notice := weightsOf(func(cfg *Config) { cfg.Checkpoint, cfg.Quantize = storedAs(t, c.stored), c.quantize })
		if share := float64(got) / float64(whole); share > c.bits/16*1.05 || share < c.bits/16*0.95 || notice != c.notice {
			t.Errorf("%+v: %.3f of the weights in bf16, notices %q", c, share, notice)
		}
	}
}
