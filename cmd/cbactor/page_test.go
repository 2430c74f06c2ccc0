package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/settings"
	"github.com/cbactor/cbactor/sched"
)

var update = flag.Bool("update", false, "write the pages of docs/ that are made from the code")

// pageHead begins docs/configuration.md.
const pageHead = `# Configuration

An engine is configured by a Go program (` + "`engine.Config`" + `), by a YAML file (` + "`--config FILE`" + `, ` + "`page_size: 16`" + `), by the environment
(` + "`CBACTOR_PAGE_SIZE=16`" + `) and by flags (` + "`--page-size 16`" + `); the later ones count more. ` + "`auto`" + `, ` + "`none`" + ` and ` + "`null`" + ` (in YAML
also an empty value) take back what an earlier one says, but where ` + "`none`" + ` is a value of its own, which the table says. A range from 1 has
no 0, which in a Go program stands for the default. ` + "`cbactor config --model M`" + ` shows what is in force, where each value comes
from, and the memory plan. Commands that know their requests, as generate and bench do, give them as hints and may run with fewer
sequences and blocks than that: ` + "`cbactor config --hints requests=2`" + ` shows it. Hints of lengths change nothing,
as a request may be longer than hinted.

Nothing is ignored: an unknown name, and a value that cannot be honoured, are errors; a value without effect where the engine
runs is a warning when it starts.

This page is made from the table in ` + "`engine/fields.go`" + `: ` + "`go test ./cmd/cbactor -run Page -update`" + `.

| field | type | range | default | what it is | acts |
|---|---|---|---|---|---|
`

// pageTail ends it.
const pageTail = `
## Policies

` + "`scheduler_type`" + ` says who goes first when a step has no room for everyone. In every policy a request that is given up for lack of cache keeps its
place in line.

- ` + "`fifo`" + `: sequences that generate get their token first, then prompts that were begun their chunks, then who waits is begun; each
  by age. Tokens of running requests come evenly; a new request waits while running ones use up the step.
- ` + "`prefill_first`" + `: prompts that were begun get their chunks before sequences that generate their tokens, so that first tokens
  come sooner and the others later. New prompts leave no margin of the cache free unless told to, so more requests are given up.
- ` + "`priority`" + `: as fifo, but a request counts as if it had come %d requests earlier for each level of its priority, so that one of
  low priority is passed by a bounded number of younger ones. Without priorities it is fifo.

## Devices

` + "`device`" + ` says where is computed. ` + "`auto`" + ` takes the first NVIDIA GPU of compute capability 8.0 or newer if there is a driver, the model and its cache fit, and the
GPU computes all that is asked for; else the CPU. ` + "`cbactor config`" + ` shows which it took and why, and so does the line of the log when an engine starts; where a GPU is passed
over, a warning says so. ` + "`cpu`" + ` leaves the driver alone. With ` + "`cuda`" + `, the first such GPU, or ` + "`cuda:N`" + `, whatever is missing is an error that says what to do. Which GPUs a process sees,
and in which order, the driver's variable CUDA_VISIBLE_DEVICES decides; ` + "`cbactor devices`" + ` lists them. It takes a build with cgo, for Linux.

On a GPU activations and the cache are bf16; sums, norms and the residual stream are float32. Matrices that are stored as Q8_0, Q4_0 or Q4_1 stay packed, and those that are stored as floats
are packed where ` + "`quantize`" + ` is ` + "`q8`" + ` or ` + "`q4`" + `, which needs no ` + "`compute`" + `; all others are bf16. ` + "`compute`" + ` and ` + "`kv_dtype`" + ` are ` + "`bf16`" + `: ` + "`f32`, `int8` and `quantize` `column`" + ` are for CPUs, refused where the GPU is asked for by
name, and else a reason to pass it over. What does not act there is a warning, as everywhere. ` + "`max_memory_percent`" + ` is of the device's free memory, which is taken at once, and of the host's, where the weights lie as they are stored, for updates and
sleep. ` + "`cpu_offload_space`" + ` is pinned memory of the host.

A GPU that is lost, as by an error of its memory, fails all requests; the process has to be started again. Where its memory is used up by others, an engine does not start, or its next session.

## Compute types

` + "`compute`" + ` says what matrices are multiplied as, ` + "`kv_dtype`" + ` what keys and values are stored as, each for itself. Everything else, such as norms,
rotations, softmax and sampling, is computed in float32. Whatever the types, a request has the same bits of logits alone and in any company.

On a GPU ` + "`batch_invariant: false`" + ` gives that up for speed: NVIDIA's cublasLt, of CUDA 12 or 13, computes products of more than 64 rows, and without that library such an engine does not start. It takes
32 MiB of the device that are planned, and some that its code lies in. Tokens may then differ with the requests beside, where two are about equally likely, and there is no ` + "`--record`" + `.

The table is of CPUs; [Devices](#devices) says what GPUs compute in.

| ` + "`compute`" + ` | weights, in bits | activations | exact |
|---|---|---|---|
| ` + "`f32`" + ` | 32 | float32 | whatever the model is stored as |
| ` + "`bf16`" + ` | 16, of MXFP4 4.5 | float32 | of a model stored as bf16 or MXFP4: with the same ` + "`kv_dtype`" + ` its bits are those of ` + "`f32`" + `; other weights are rounded, and floats that are sent later for a matrix in MXFP4 to MXFP4 |
| ` + "`int8`" + ` | 8.5 as Q8_0, 5 as Q4_1, 4.5 as Q4_0, 4.6 as Q4_K, 5.6 as Q5_K, 6.6 as Q6_K | 8 bits, a scale for each 32 of a row | weights stored as one of these; floats are quantised as ` + "`quantize`" + ` says |

q, k and v of a layer may be stored in several such types (in files called Q4_K_M or Q5_K_M v has more bits in some layers). Where gate and up are, or where 32 neighbouring outputs of q, k and v have two types, int8 quantises those together to 8.5 bits.

On a CPU ` + "`auto`" + ` takes what most of the model is stored as: int8 for these types, bf16 for bf16, MXFP4 and FP8, f32 for f32 and f16; the cache then has the same type. Weights that are computed
as less than they are stored as are told of when the engine starts. ` + "`quantize`" + ` is for floats, on a CPU under int8: ` + "`q8`" + ` (8.5 bits), ` + "`q4`" + ` (5), or, on a CPU, ` + "`column`" + `,
which gives all weights, quantised ones too, 8 bits with one scale for each output, and activations one for each 256: the fastest for batches, the coarsest.

The cache takes, for a token, a layer and a key head of d elements, 8 d bytes in f32, 4 d in bf16, 2 d + 8 in int8; int8 needs d to be a multiple of 4, 1024 at most.

Weights that are sent to an engine later are stored as they come and computed in the formats that the model began with: floats for a model stored as Q4_1 become Q4_1 under int8, which is
logged. A trainer that needs what it sent takes ` + "`--compute bf16`" + ` or ` + "`f32`" + `. In place, nothing is cast to a quantised type: that is refused.

To choose: keep ` + "`auto`" + `. On a CPU, for logits to compare with another implementation's, ` + "`--compute f32 --kv-dtype f32`" + `; for speed on a model in floats, ` + "`--compute int8`" + `; for more tokens of cache, ` + "`--kv-dtype int8`" + `. On a GPU,
for a model in floats that is too large otherwise, ` + "`--quantize q8` or `q4`" + `.

## Tuning

A start can measure how work is cut for the kernels, on the weights that it has loaded and with the threads that will compute.
That changes no bit of any output: a sum is one chain of operations within an output, and what is cut are rows, outputs and
positions, never a sum. What is measured:

- for each shape of a matrix, how many panels of 32 outputs a single row passes in one call of a kernel, and how many rows pass
  a panel before the next one's turn, by the number of rows of a step: up to 32, 64, 192 and more;
- how many neighbouring tokens of a prompt attend together;
- up to how many bytes of weights times tokens one thread computes a step alone: more than by default, never fewer.

|` + " `default_compile_level` | is, for both paths | measures | SmolLM2-135M takes |" + `
|---|---|---|---|
| 0 | ` + "`mode=none`" + ` | nothing | – |
| 1 | ` + "`mode=default,dynamic=true`" + ` | the two shapes with the most weights, with few candidates, five times each | 0.2 s |
| 2 | ` + "`mode=max-autotune-no-cudagraphs,dynamic=true`" + ` | every shape, nine times | 0.8 s |
| 3 | ` + "`mode=max-autotune-no-cudagraphs,dynamic=false`" + ` | every shape for each class of row counts, attention, and when one thread is enough, fifteen times | 2 s |

` + "`decode_compile_config`" + ` is for steps of up to 64 tokens and when one thread is enough, ` + "`varlen_compile_config`" + ` for longer ones and attention;
` + "`dynamic=true`" + ` has one choice for all row counts of a path. ` + "`reduce-overhead`" + ` is ` + "`default`, `max-autotune` is `max-autotune-no-cudagraphs`" + `.
A figure is taken instead of the default only where its median is 5 in 100 lower, and where it was faster in three of four rounds.
On the CPU that the defaults were chosen on, an Intel Xeon with 2 MiB of second-level cache a core, they are within a few in 100 of
the best, for AVX-512 and AVX2: level 0 is no loss there.

What was measured is kept in the folder ` + "`tuning`" + ` of ` + "`CBACTOR_CACHE`" + `, in a file for each kind of CPU, and is not measured again:
by instruction set, threads, types, shape, and rounds. A file that is broken or of another CPU is replaced; it may be removed at any
time. Where it cannot be written, the engine starts with a warning. ` + "`cbactor inspect`" + ` shows the file, ` + "`-vv`" + ` each figure when an engine starts.

## Variables that are no fields

- ` + "`CBACTOR_CACHE`" + `: the folder of the models that are known by name, and of what was tuned; else ` + "`cbactor`" + ` in the user's cache folder.
- ` + "`CBACTOR_CPU`" + `: ` + "`avx512`" + `, ` + "`avx2`" + ` or ` + "`generic`" + `: the instruction set to compute with; else the best that the CPU has.
- ` + "`CBACTOR_CUBLASLT`" + `: NVIDIA's libcublasLt.so.13 or .12, or its folder, such as nvidia/cu13/lib of the Python package nvidia-cublas; else where the dynamic linker finds it.
- ` + "`CBACTOR_CUDA_LIBRARY`" + `: the path of NVIDIA's driver, where it is not the ` + "`libcuda.so.1`" + ` that the dynamic linker finds. What is no driver is an error, unless ` + "`device`" + ` is ` + "`cpu`" + `.
`

// The page lists every field as the code has it.
func TestConfigurationPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, f := range engine.Fields() {
		fallback := f.Default
		if fallback == "" {
			fallback = f.Derived
		}
		acts := string(f.Acts)
		if f.Acts == engine.Everywhere {
			acts = "everywhere"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", f.Name, strings.ReplaceAll(f.Syntax(), "|", ", "), f.Range(), fallback, f.Help, acts)
	}
	b.WriteString("\nOther names that are taken, old ones with a warning: `" + strings.Join(engine.Deprecated(), "`, `") + "`.\n")
	for _, d := range commandDefaults {
		fmt.Fprintf(&b, "\nCommands have `%s` %s by default.\n", d.Name, d.Text)
	}
	fmt.Fprintf(&b, "\nEnvironment variables are the names in capitals after `%s`.\n", settings.Prefix)
	fmt.Fprintf(&b, pageTail, sched.AgePerLevel)
	const path = "../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Errorf("%s is not what the code says: run this test with -update", path)
	}
}
