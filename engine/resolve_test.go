package engine

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/gpuexec"
)

// plenty is a computer on which the tiny model is bounded by nothing.
var plenty = memory{limit: 64 << 30, resident: 1 << 20}

func tiny(t *testing.T) *checkpoint.Checkpoint {
	t.Helper()
	c, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// setting finds a field's.
func setting(t *testing.T, r *Resolved, name string) Setting {
	t.Helper()
	list := r.Settings()
	i := slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no field %s", name)
	}
	return list[i]
}

// Each field: what it is when nothing is given, and what becomes of values; an
// error or notice is named by a part of it. Every field has a case.
func TestResolutionOfEveryField(t *testing.T) {
	type given struct{ text, want, from, notice, err string }
	given1 := func(text string) given { return given{text: text, want: text, from: "--it"} }
	noEffect := func(text, want string) given { return given{text: text, want: want, notice: "has no effect here"} }
	noGPU := func(text, asked, want string) given {
		return given{text: text, want: want, from: "--it says " + asked + "; there is no GPU", notice: "has no effect here"}
	}
	_, err := gpuexec.Open(gpuexec.First)
	withoutGPUs := reason(err)
	unseen := fieldNames()
	for name, c := range map[string]struct {
		def, from string
		idle      bool
		cases     []given
	}{
		"device":                      {"cpu", withoutGPUs, false, []given{given1("cpu"), {text: "auto", want: "cpu", from: withoutGPUs}, {text: "null", want: "cpu", from: withoutGPUs}}},
		"max_context":                 {"1024", "the model's context", false, []given{given1("7"), {text: "1025", err: "max_context is 1025 (--it), the model has 1024"}}},
		"max_queue_size":              {"65536", "the most without being asked for more", false, []given{given1("3")}},
		"max_batch_reads":             {"0", "default", false, []given{given1("3")}},
		"return_logprobs":             {"false", "default", false, []given{given1("false"), given1("true")}},
		"seed":                        {"", "random", false, []given{given1("18446744073709551615")}},
		"per_request_processors":      {"true", "default", false, []given{given1("true"), {text: "false", want: "false", from: "--it", notice: "requests may bring their own"}}},
		"drop_unsupported_processors": {"true", "default", false, []given{given1("false")}},
		"hints":                       {"none", "not given", false, []given{{text: "requests=3", want: "max_prompt=0,max_new=0,requests=3", from: "--it"}}},
		"scheduler_type":              {"fifo", "default", false, []given{given1("fifo"), given1("prefill_first"), given1("priority")}},
		"safety_margin":               {"0.15", "scheduler_type fifo", false, []given{given1("0"), given1("0.5")}},
		"max_batch_tokens":            {"512", "the best for a CPU", false, []given{given1("7"), given1("8192")}},
		"max_requests_per_batch": {"512", "max_batch_tokens", false, []given{given1("9"),
			{text: "600", want: "512", from: "--it says 600; max_batch_tokens", notice: "max_requests_per_batch is 600 (--it), lowered to 512: max_batch_tokens"}}},
		"use_async_batching": {"true", "the executor takes 2 at a time", false, []given{given1("false"), given1("true")}},
		"page_size":          {"32", "default", false, []given{given1("16")}},
		"num_blocks": {"16384", "512 requests of 1024 tokens use no more", false, []given{{text: "10", want: "10", from: "--it", notice: "max_context is 1024 (the model's context), the cache holds 320 tokens of a request"}, given1("32"),
			{text: "20000", want: "16384", from: "--it says 20000; 512 requests of 1024 tokens use no more", notice: "num_blocks is 20000 (--it), lowered to 16384"}}},
		"max_memory_percent":                 {"0.6", "default", false, []given{given1("0.9")}},
		"max_blocks_per_request":             {"0", "there is no GPU", true, []given{noGPU("8", "8", "0"), noGPU("0", "0", "0")}},
		"allow_block_sharing":                {"true", "default", false, []given{given1("false"), given1("true")}},
		"cpu_offload_space":                  {"0", "default", false, []given{{text: "1", want: "1", from: "--it"}, given1("0"), {text: "null", want: "0", from: "default"}}},
		"cpu_offload_space_safety_threshold": {"0.8", "default", true, []given{noEffect("0.5", "0.5")}},
		"max_adapters":                       {"0", "default", false, []given{given1("3"), {text: "0", want: "0", from: "--it"}}},
		"max_adapter_rank":                   {"32", "default", true, []given{noEffect("8", "8")}},
		"weight_sets":                        {"2", "memory holds another set", false, []given{given1("1"), given1("2"), {text: "0", want: "2", from: "memory holds another set"}}},
		"update_dtype":                       {"sent", "default", false, []given{given1("sent"), given1("f32"), given1("f16"), given1("bf16")}},
		"compute": {"bf16", "the model is stored as BF16", false, []given{given1("f32"), given1("bf16"), {text: "auto", want: "bf16", from: "the model is stored as BF16"},
			{text: "int8", want: "int8", from: "--it", notice: "compute is int8: 43 matrices stored as BF16 are quantised to q8"}}},
		"quantize":                 {"none", "compute bf16", true, []given{noEffect("q8", "q8"), noEffect("q4", "q4"), noEffect("column", "column"), {text: "auto", want: "none", from: "compute bf16"}}},
		"kv_dtype":                 {"bf16", "compute bf16", false, []given{given1("f32"), given1("bf16"), given1("int8"), {text: "auto", want: "bf16", from: "compute bf16"}}},
		"attention":                {"tiled", "the fused kernel", false, []given{given1("tiled"), given1("plain"), {text: "auto", want: "tiled", from: "the fused kernel"}}},
		"auto_switch_to_flash":     {"true", "default", true, []given{noEffect("false", "false")}},
		"threads":                  {"", "one for each CPU", false, []given{given1("3")}},
		"pin":                      {"false", "default", false, []given{given1("true"), given1("false"), {text: "auto", want: "false", from: "default"}, {text: "null", want: "false", from: "default"}}},
		"use_cuda_graph":           {"false,false", "there is no GPU", true, []given{noGPU("true", "true,true", "false,false"), noGPU("true,false", "true,false", "false,false")}},
		"q_padding_interval_size":  {"64", "default", true, []given{noEffect("32", "32")}},
		"kv_padding_interval_size": {"16384", "default", true, []given{noEffect("512", "512")}},
		"batch_invariant":          {"true", "a CPU always is", true, []given{{text: "false", want: "true", from: "--it says false; a CPU always is", notice: "has no effect here"}, {text: "true", want: "true", from: "--it says true; a CPU always is", notice: "has no effect here"}}},
		"varlen_compile_config": {"none", "default_compile_level 0", false, []given{
			{text: "mode=default", want: "mode=default,dynamic=false", from: "--it"}, {text: "none", want: "none", from: "--it"}, {text: "auto", want: "none", from: "default_compile_level 0"}}},
		"decode_compile_config": {"none", "default_compile_level 0", false, []given{{text: "dynamic=true", want: "mode=default,dynamic=true", from: "--it"}}},
		"default_compile_level": {"0", "default", false, []given{{text: "1", want: "1", from: "--it"},
			{text: "3", want: "3", from: "--it"}, {text: "0", want: "0", from: "--it"}}},
		"tensor_parallel_size":      {"1", "default", false, []given{given1("1"), given1("2"), {text: "3", err: "tensor_parallel_size is 3 (--it): model cannot be divided: 4 query heads over 2 key heads among 3 ranks, take 1, 2, 4"}}},
		"disable_nccl_graph_mixing": {"true", "default", true, []given{noEffect("false", "false")}},
		"cpu_group_timeout":         {"300", "default", true, []given{noEffect("2.5", "2.5"), noEffect("none", "none")}},
	} {
		base := Config{Checkpoint: tiny(t)}
		r, err := resolve(base, plenty)
		if err != nil {
			t.Fatal(err)
		}
		s := setting(t, r, name)
		if c.def != "" && s.Text() != c.def || s.Text() == "0" && c.def != "0" || s.From != c.from || s.Idle != c.idle || len(r.Notices) > 0 {
			t.Errorf("%s: %s from %q, idle %t, notices %q", name, s.Text(), s.From, s.Idle, r.Notices)
		}
		for _, g := range c.cases {
			cfg := base
			if err := cfg.Apply([]Given{{Name: name, Text: g.text, Called: "--it"}}); err != nil {
				t.Errorf("%s %s: %v", name, g.text, err)
				continue
			}
			r, err := resolve(cfg, plenty)
			if g.err != "" {
				if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), g.err) {
					t.Errorf("%s %s: error %v", name, g.text, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", name, g.text, err)
				continue
			}
			notices := strings.Join(r.Notices, "; ")
			if s := setting(t, r, name); s.Text() != g.want || g.from != "" && s.From != g.from || (notices == "") != (g.notice == "") || !strings.Contains(notices, g.notice) {
				t.Errorf("%s %s: %s from %q, notices %q", name, g.text, s.Text(), s.From, notices)
			}
		}
		unseen = slices.DeleteFunc(unseen, func(n string) bool { return n == name })
	}
	if len(unseen) > 0 {
		t.Errorf("no cases for %v", unseen)
	}
}

// What a program sets is checked as what a user writes, and shown as the program's.
func TestProgramsValues(t *testing.T) {
	zero, margin, nan := 0, 2.0, math.NaN()
	base := Config{Checkpoint: tiny(t)}
	for want, change := range map[string]func(*Config){
		"page_size is -1: must be a whole number from 1 to 4096":                      func(c *Config) { c.PageSize = -1 },
		"tensor_parallel_size is -1: must be a whole number from 1 to 1024":           func(c *Config) { c.TensorParallelSize = -1 },
		"max_memory_percent is 1.5: must be a number from 0.000001 to 1":              func(c *Config) { c.MaxMemoryPercent = 1.5 },
		"max_memory_percent is NaN: must be":                                          func(c *Config) { c.MaxMemoryPercent = nan },
		"safety_margin is 2: must be":                                                 func(c *Config) { c.SafetyMargin = &margin },
		"scheduler_type is lifo: must be fifo, prefill_first or priority":             func(c *Config) { c.SchedulerType = "lifo" },
		"cpu_group_timeout is -2: must be a number from 0.001 to 1073741824, or none": func(c *Config) { c.CPUGroupTimeout = -2 * time.Second },
		"hints is max_prompt=-1,max_new=0,requests=0: -1 is out of range":             func(c *Config) { c.Hints.MaxPrompt = -1 },
		"decode_compile_config is mode=fast,dynamic=false: mode is \"fast\", none of": func(c *Config) { c.DecodeCompileConfig = &Compile{Mode: "fast"} },
		"neither Checkpoint nor Executor":                                             func(c *Config) { c.Checkpoint = nil },
	} {
		cfg := base
		change(&cfg)
		if _, err := resolve(cfg, plenty); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ", or auto") {
			t.Errorf("%v, want %s, and no word that is none of a program's", err, want)
		}
	}
	cfg := base
	cfg.Threads, cfg.CPUGroupTimeout, cfg.MaxBlocksPerRequest = 2, Forever, &zero
	r, err := resolve(cfg, plenty)
	if err != nil {
		t.Fatal(err)
	}
	if s := setting(t, r, "threads"); s.From != "the program" || s.Value != 2 {
		t.Errorf("threads: %+v", s)
	}
	if len(r.Notices) != 2 {
		t.Errorf("notices %q", r.Notices)
	}
}

// The user's Config is the same after Resolve, also behind its pointers.
func TestConfigIsLeftAlone(t *testing.T) {
	sharing, blocks := true, 8
	make := func() Config {
		c := Config{AllowBlockSharing: &sharing, MaxBlocksPerRequest: &blocks, UseCUDAGraph: &Graphs{Decode: true}, Hints: Hints{Requests: 3}}
		if err := c.Apply([]Given{{Name: "block_size", Text: "16"}}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	cfg, want := make(), make()
	cfg.Checkpoint = tiny(t)
	want.Checkpoint = cfg.Checkpoint
	r, err := resolve(cfg, plenty)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cfg, want) || !sharing || blocks != 8 {
		t.Errorf("the Config has become %+v", cfg)
	}
	if *r.Config.MaxBlocksPerRequest != 0 || r.Config.MaxRequestsPerBatch != 3 {
		t.Errorf("resolved: %+v", r.Config)
	}
	later := cfg
	if err := later.Apply([]Given{{Name: "threads", Text: "5"}, {Name: "block_size", Text: "8"}}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(cfg, want) {
		t.Error("applying to a copy has changed the original")
	}
}

// With an executor that is given, its sizes hold.
func TestSizesOfAnExecutor(t *testing.T) {
	echo := executor.NewEcho(executor.EchoConfig{Blocks: 8, PageSize: 16, Slots: 4, Tokens: 40})
	base := Config{Executor: echo}
	r, err := resolve(base, plenty)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Config
	if c.PageSize != 16 || c.NumBlocks != 8 || c.MaxBatchTokens != 40 || c.MaxRequestsPerBatch != 4 || c.MaxContext != 128 || *c.UseAsyncBatching || len(r.Notices) != 0 {
		t.Errorf("resolved: %+v, notices %q", c, r.Notices)
	}
	big := executor.NewEcho(executor.EchoConfig{Blocks: 8, PageSize: 16, Slots: 4, Tokens: 40, Context: 130, HostBlocks: 5, Windows: []int{0, 8}})
	if r, err = resolve(Config{Executor: big}, plenty); err != nil {
		t.Fatal(err)
	}
	if want := []string{"max_context is 130 (the executor's context), the cache holds 128 tokens of a request: longer ones end there or are refused"}; !slices.Equal(r.Notices, want) {
		t.Errorf("notices %q, want %q", r.Notices, want)
	}
	for name, want := range map[string]string{"num_blocks": "the executor's, for each of 2 kinds of attention at the same time", "cpu_offload_space": "the executor's own are 5 blocks"} {
		if got := setting(t, r, name).From; got != want {
			t.Errorf("%s from %q, want %q", name, got, want)
		}
	}
	on := true
	for want, change := range map[string]func(*Config){
		"page_size (the program) is the executor's own":                    func(c *Config) { c.PageSize = 16 },
		"num_blocks (the program) is the executor's own":                   func(c *Config) { c.NumBlocks = 9 },
		"threads (the program) is the executor's own":                      func(c *Config) { c.Threads = 2 },
		"pin (the program) is the executor's own":                          func(c *Config) { c.Pin = true },
		"compute (the program) is the executor's own":                      func(c *Config) { c.Compute = "f32" },
		"cpu_offload_space (the program) is the executor's own":            func(c *Config) { c.CPUOffloadSpace = 1 },
		"max_context is 129 (the program), the executor has 128":           func(c *Config) { c.MaxContext = 129 },
		"use_async_batching is true (the program), the executor takes one": func(c *Config) { c.UseAsyncBatching = &on },
		"the executor has no room":                                         func(c *Config) { c.Executor = noRoom{echo} },
	} {
		cfg := base
		change(&cfg)
		if _, err := resolve(cfg, plenty); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, change := range map[string]func(*Config){
		"max_batch_tokens is 41 (the program), lowered to 40: the executor takes no more":     func(c *Config) { c.MaxBatchTokens = 41 },
		"max_requests_per_batch is 5 (the program), lowered to 4: the executor takes no more": func(c *Config) { c.MaxRequestsPerBatch = 5 },
		"max_requests_per_batch is 4 (the program), lowered to 3: max_batch_tokens":           func(c *Config) { c.MaxRequestsPerBatch, c.MaxBatchTokens = 4, 3 },
	} {
		cfg := base
		change(&cfg)
		r, err := resolve(cfg, plenty)
		if err != nil || !slices.Equal(r.Notices, []string{want}) {
			t.Errorf("notices %q (%v), want %s", r.Notices, err, want)
		}
	}
}

// noRoom is an executor without slots.
type noRoom struct{ executor.Executor }

func (n noRoom) Info() executor.Info {
	info := n.Executor.Info()
	info.MaxSlots = 0
	return info
}

// A model that recommends what the engine lacks is refused, if it must be.
func TestUnsupportedProcessors(t *testing.T) {
	no := false
	c := *tiny(t)
	c.Generation.Other = []string{"num_beams"}
	if _, err := resolve(Config{Checkpoint: &c}, plenty); err != nil {
		t.Error(err)
	}
	_, err := resolve(Config{Checkpoint: &c, DropUnsupportedProcessors: &no}, plenty)
	if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "recommends num_beams") {
		t.Errorf("error %v", err)
	}
}
