package engine

import (
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
)

// Config says how to spawn an engine. Its zero value is a good one: a field that is
// zero or nil takes its default, and Resolve, which leaves the Config alone, says
// what that is and why. Fields describes every entry: bounds, default, where it acts.
//
// A field that cannot be honoured is refused with ErrConfig; one that has no effect
// where the engine runs is named in Resolved.Notices.
type Config struct {
	Checkpoint *checkpoint.Checkpoint // the model; may be closed after Spawn
	Executor   executor.Executor      // runs the steps instead of one of the engine's own, and is closed with the engine; then
	// Checkpoint is not needed, and what only concerns the engine's own must be left at zero
	Log zerolog.Logger // its writer may be written to by several goroutines, and for a moment yet behind Close

	// Trace, if set, is written what happens to each request, as `cbactor explain` reads
	// it, and closed by Close; the caller closes it when Spawn fails. Nothing waits for
	// it: what it is too slow for is counted there, and an error ends the trace alone.
	Trace io.WriteCloser

	// Record, if set, is written the log of the run, from which `cbactor replay` computes
	// the same tokens again, and closed as Trace is. It needs weights that the engine
	// knows: with an Executor it is refused.
	Record io.WriteCloser

	// Profile, if set, is told where the time of the CPU executor's steps goes. With an
	// Executor, and on a GPU, it is refused.
	Profile *cpuexec.Profile

	Device Device // where is computed; "": AnyDevice

	// Requests.
	MaxContext                int // tokens of a request, prompt and generated
	MaxQueueSize              int // requests open at a time, queued and running
	ReturnLogprobs            *bool
	Seed                      uint64 // what unseeded requests draw their seeds from; 0: random
	PerRequestProcessors      *bool
	DropUnsupportedProcessors *bool
	Hints                     Hints // what will be asked for, if it is known

	// Steps.
	SchedulerType       string   // "fifo", "prefill_first" or "priority"
	SafetyMargin        *float64 // share of the cache that new prompts leave free
	MaxBatchTokens      int      // tokens of a step
	MaxRequestsPerBatch int      // requests running at a time
	MaxBatchReads       int      // cache positions that the rows of a step read together; 0: any number
	UseAsyncBatching    *bool    // two plans in flight; nil: as the executor gains by it

	// Cache.
	PageSize                       int // tokens of a cache block
	NumBlocks                      int // cache blocks at most; on a CPU they take a quarter of the memory limit at most
	MaxMemoryPercent               float64
	MaxBlocksPerRequest            *int  // width of the decode fast path's tables; 0: no fast path
	AllowBlockSharing              *bool // prefix cache
	CPUOffloadSpace                float64
	CPUOffloadSpaceSafetyThreshold *float64

	// LoRA adapters.
	MaxAdapters    int // loaded at a time; 0: none
	MaxAdapterRank int // of a module

	// Weights.
	WeightSets  int    // that can be computed with at a time, 1 or 2
	UpdateDType string // that updates are stored in: "sent", "f32", "f16" or "bf16"

	// Computing.
	Compute           string // what weights are multiplied as: "auto", "f32", "bf16" or "int8"; on a GPU bf16 alone
	Quantize          string // what float weights become: "auto", "q8" or "q4", with int8 or on a GPU; "column" with int8 alone
	KVDType           string // of the cache: "auto", "f32", "bf16" or "int8"; on a GPU bf16 alone
	Attention         string // "auto", "plain" or "tiled"
	AutoSwitchToFlash *bool
	Threads           int  // threads that compute
	Pin               bool // bind threads to CPUs (Linux): for a process that runs this engine alone

	// GPUs.
	UseCUDAGraph          *Graphs
	QPaddingIntervalSize  int
	KVPaddingIntervalSize int
	BatchInvariant        *bool // false: NVIDIA's cublasLt computes products of many rows
	VarlenCompileConfig   *Compile
	DecodeCompileConfig   *Compile
	DefaultCompileLevel   int

	// Several ranks.
	TensorParallelSize     int
	DisableNCCLGraphMixing *bool
	CPUGroupTimeout        time.Duration // Forever: none

	from origins
}

// OffloadAuto as Config.CPUOffloadSpace means: as much as
// Config.CPUOffloadSpaceSafetyThreshold leaves.
const OffloadAuto = -1

// Forever as Config.CPUGroupTimeout means no timeout.
const Forever time.Duration = -1 * time.Second

// Info is what an engine runs with.
type Info struct {
	Executor    string // name and instruction set
	Compute     string // "f32", "bf16" or "int8"; "" with an executor of the caller's
	KVType      string // likewise, of the cache
	Attention   string // "" on a GPU, and with an executor of the caller's
	Threads     int    // 0 on a GPU, and with an executor of the caller's
	Vocab       int
	EOS         []int32
	MaxContext  int // tokens of a request
	PageSize    int
	Blocks      int // with several kinds of attention, what each can have at the same time
	CacheTokens int // of a request that the cache holds; the last one needs no room
	BatchTokens int
	BatchRows   int
	QueueSize   int
	Adapters    int // that can be loaded at a time
	AdapterRank int // the largest of a module
	Seed        uint64
	CacheBytes  int64 // of the KV pool; on a CPU address space, touched only as it is used
	WeightBytes int64

	Settings []Setting // every field of Config
	Notices  []string  // see Resolved
	Memory   Memory    // zero with an executor of the caller's
}

// AllTokens is how many tokens of all requests together the cache holds: no fewer than of
// one, and where none is bounded by it, for all see through windows, as many as requests have.
func (i Info) AllTokens() int {
	return min(i.CacheTokens, max(i.Blocks*i.PageSize, i.BatchRows*i.MaxContext))
}
