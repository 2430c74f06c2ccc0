package engine

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Sources that count more come later; "auto", "none" and "null" take back what stood before.
func TestPrecedence(t *testing.T) {
	cfg := Config{Checkpoint: tiny(t), Threads: 9, PageSize: 64, MaxContext: 100}
	for _, source := range [][]Given{
		{{Name: "page_size", Text: "16", Where: "cb.yaml:1:1"}, {Name: "threads", Text: "3", Where: "cb.yaml:2:1"}, {Name: "num_blocks", Text: "7", Where: "cb.yaml:3:1"}},
		{{Name: "page_size", Text: "8", Called: "CBACTOR_PAGE_SIZE"}, {Name: "num_blocks", Text: "auto", Called: "CBACTOR_NUM_BLOCKS"}},
		{{Name: "page_size", Text: "4", Called: "--page-size"}, {Name: "page_size", Text: "5", Called: "--page-size"}},
	} {
		if err := cfg.Apply(source); err != nil {
			t.Fatal(err)
		}
	}
	r, err := resolve(cfg, plenty)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"page_size":   {"5", "--page-size"},
		"threads":     {"3", "cb.yaml:2:1"},
		"max_context": {"100", "the program"},
		"num_blocks":  {"10240", "512 requests of 100 tokens use no more"},
	} {
		if s := setting(t, r, name); s.Text() != want[0] || s.From != want[1] {
			t.Errorf("%s: %s from %q, want %q", name, s.Text(), s.From, want)
		}
	}
}

// What is refused is an ErrConfig that says where and what to do, and changes nothing.
func TestRefusedValues(t *testing.T) {
	for want, source := range map[string][]Given{
		`there is no "page_sise": did you mean page_size?`:                                                  {{Name: "page_sise", Text: "3"}},
		`cb.yaml:3:1: bad engine configuration: there is no "blocks": did you mean num_blocks?`:             {{Name: "blocks", Text: "3", Where: "cb.yaml:3:1"}},
		`CBACTOR_THREADS is many: must be a whole number from 1 to 1024, or auto`:                           {{Name: "threads", Text: "many", Called: "CBACTOR_THREADS"}},
		`cb.yaml:2:1: bad engine configuration: threads is 1025: must be`:                                   {{Name: "threads", Text: "1025", Where: "cb.yaml:2:1"}},
		`--compute is f64: must be auto, f32, bf16 or int8`:                                                 {{Name: "compute", Text: "f64", Called: "--compute"}},
		`page_size is 0: must be a whole number from 1 to 4096`:                                             {{Name: "page_size", Text: "0"}},
		`cpu_group_timeout is 0: must be a number from 0.001`:                                               {{Name: "cpu_group_timeout", Text: "0"}},
		`there is no "model": docs/configuration.md has all fields`:                                         {{Name: "model", Text: "tiny"}},
		`pin is "": must be true, false or auto`:                                                            {{Name: "pin", Text: ""}},
		`pin is yes: must be true, false or auto`:                                                           {{Name: "pin", Text: "yes"}},
		`max_memory_percent is NaN: must be a number from 0.000001 to 1, or auto`:                           {{Name: "max_memory_percent", Text: "NaN"}},
		`seed is -1: must be a whole number from 0 to 2^64-1`:                                               {{Name: "seed", Text: "-1"}},
		`use_cuda_graph is true,false,true: "true,false,true" is neither`:                                   {{Name: "use_cuda_graph", Text: "true,false,true"}},
		`hints is requests=1,requests=2: "requests" is given twice`:                                         {{Name: "hints", Text: "requests=1,requests=2"}},
		`hints is max_new=-1: -1 is out of range`:                                                           {{Name: "hints", Text: "max_new=-1"}},
		`hints is many: "many" is no name=value`:                                                            {{Name: "hints", Text: "many"}},
		`"speed" is neither mode nor dynamic`:                                                               {{Name: "varlen_compile_config", Text: "speed=1"}},
		`cpu_group_timeout is 1e300: must be a number from 0.001 to 1073741824, or none; auto: the default`: {{Name: "cpu_group_timeout", Text: "1e300"}},
		`cpu_offload_space is -2: must be a number from 0 to 1048576, or none`:                              {{Name: "cpu_offload_space", Text: "-2"}},
		`page_size and --block-size are the same: give page_size alone`:                                     {{Name: "page_size", Text: "3"}, {Name: "block_size", Text: "4", Called: "--block-size"}},
		`use_default_compile_configs is 3: must be true or false`:                                           {{Name: "use_default_compile_configs", Text: "3"}},
		`is ` + strings.Repeat("x", 60) + `...: must be`:                                                    {{Name: "threads", Text: strings.Repeat("x", 1000)}},
		`is "a\nb": must be`: {{Name: "threads", Text: "a\nb"}},
	} {
		cfg, before := Config{PageSize: 64}, Config{PageSize: 64}
		err := cfg.Apply(append([]Given{{Name: "num_blocks", Text: "3"}}, source...))
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
		if !reflect.DeepEqual(cfg, before) {
			t.Errorf("%s: the Config has become %+v", want, cfg)
		}
	}
}

// Old names are taken, mapped, and named once.
func TestOldNames(t *testing.T) {
	for _, c := range []struct{ name, text, field, want, notice string }{
		{"block_size", "16", "page_size", "16", "--it is the old name of page_size"},
		{"use_default_compile_configs", "true", "default_compile_level", "3", "--it is old: true is default_compile_level 3"},
		{"use_default_compile_configs", "false", "default_compile_level", "0", "--it is old"},
		{"max_cached_graphs", "8", "page_size", "32", "--it is old and has no effect"},
	} {
		cfg := Config{Checkpoint: tiny(t)}
		if err := cfg.Apply([]Given{{Name: c.name, Text: c.text, Called: "--it"}}); err != nil {
			t.Fatal(err)
		}
		r, err := resolve(cfg, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if s := setting(t, r, c.field); s.Text() != c.want {
			t.Errorf("%s %s: %s is %s", c.name, c.text, c.field, s.Text())
		}
		if len(r.Notices) == 0 || !strings.HasPrefix(r.Notices[0], c.notice) {
			t.Errorf("%s %s: notices %q", c.name, c.text, r.Notices)
		}
	}
}

// Every field takes the text that it shows, in a Go program's type.
func TestTextOfEveryField(t *testing.T) {
	var c Config
	texts := map[string]string{
		"device": "cuda:1", "max_context": "1", "max_queue_size": "2", "return_logprobs": "true", "seed": "3", "per_request_processors": "false",
		"drop_unsupported_processors": "false", "hints": "max_prompt=1,max_new=2,requests=3", "scheduler_type": "priority",
		"safety_margin": "0.25", "max_batch_tokens": "4", "max_requests_per_batch": "5", "max_batch_reads": "6", "use_async_batching": "true",
		"page_size": "6", "num_blocks": "7", "max_memory_percent": "0.5", "max_blocks_per_request": "0", "allow_block_sharing": "false",
		"cpu_offload_space": "1.5", "cpu_offload_space_safety_threshold": "0", "max_adapters": "11", "max_adapter_rank": "12", "weight_sets": "1", "update_dtype": "bf16", "compute": "int8", "quantize": "q4", "kv_dtype": "bf16", "attention": "plain",
		"auto_switch_to_flash": "false", "threads": "8", "pin": "true", "use_cuda_graph": "true,false", "q_padding_interval_size": "9",
		"kv_padding_interval_size": "10", "batch_invariant": "false", "varlen_compile_config": "mode=max-autotune,dynamic=true",
		"decode_compile_config": "mode=default,dynamic=false", "default_compile_level": "2", "tensor_parallel_size": "4",
		"disable_nccl_graph_mixing": "false", "cpu_group_timeout": "1.5",
	}
	for _, f := range Fields() {
		text, ok := texts[f.Name]
		if !ok {
			t.Fatalf("no text for %s", f.Name)
		}
		if err := c.Apply([]Given{{Name: f.Name, Text: text}}); err != nil {
			t.Fatal(err)
		}
		if got := (Setting{Value: f.at(&c).inForce()}).Text(); got != text {
			t.Errorf("%s: %q has become %q", f.Name, text, got)
		}
	}
	no, yes, margin, none := false, true, 0.25, 0
	want := Config{Device: "cuda:1", MaxContext: 1, MaxQueueSize: 2, ReturnLogprobs: &yes, Seed: 3, PerRequestProcessors: &no, DropUnsupportedProcessors: &no,
		Hints: Hints{1, 2, 3}, SchedulerType: "priority", SafetyMargin: &margin, MaxBatchTokens: 4, MaxRequestsPerBatch: 5, MaxBatchReads: 6, WeightSets: 1, UpdateDType: "bf16", UseAsyncBatching: &yes,
		PageSize: 6, NumBlocks: 7, MaxMemoryPercent: 0.5, MaxBlocksPerRequest: &none, AllowBlockSharing: &no, CPUOffloadSpace: 1.5,
		CPUOffloadSpaceSafetyThreshold: new(float64), MaxAdapters: 11, MaxAdapterRank: 12, Compute: "int8", Quantize: "q4", KVDType: "bf16", Attention: "plain", AutoSwitchToFlash: &no, Threads: 8, Pin: true,
		UseCUDAGraph: &Graphs{Varlen: true}, QPaddingIntervalSize: 9, KVPaddingIntervalSize: 10, BatchInvariant: &no,
		VarlenCompileConfig: &Compile{"max-autotune", true}, DecodeCompileConfig: &Compile{"default", false}, DefaultCompileLevel: 2,
		TensorParallelSize: 4, DisableNCCLGraphMixing: &no, CPUGroupTimeout: 1500 * time.Millisecond}
	want.from = c.from
	if !reflect.DeepEqual(c, want) {
		t.Errorf("the Config is %+v, want %+v", c, want)
	}
	for _, f := range Fields() {
		if err := c.Apply([]Given{{Name: f.Name, Text: "none"}}); err != nil {
			t.Error(err)
		}
	}
	untuned := &Compile{Mode: "none"}
	if want := (Config{CPUOffloadSpace: OffloadAuto, VarlenCompileConfig: untuned, DecodeCompileConfig: untuned, CPUGroupTimeout: Forever, from: c.from}); !reflect.DeepEqual(c, want) {
		t.Errorf("after none everywhere: %+v", c)
	}
}
