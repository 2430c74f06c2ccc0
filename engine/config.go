package engine

import (
	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
)

// Config says how to spawn an engine. Zero fields are resolved by Spawn, which
// leaves the value alone; Engine.Info shows what is in force.
type Config struct {
	Checkpoint *checkpoint.Checkpoint // the model; may be closed after Spawn
	Executor   executor.Executor      // runs the steps instead of the CPU executor, and is closed with the engine; then
	// Checkpoint is not needed, and what only sizes the CPU executor must be left at zero

	Compute             string // "f32" or "auto" (the default), which means f32 until other types exist
	Threads             int    // 0: one for each core that the process may use
	Pin                 bool   // bind threads to CPUs (Linux): for a process that runs this engine alone
	PageSize            int    // tokens of a cache block; 0: 32
	NumBlocks           int    // cache blocks; 0: from memory
	MaxBatchTokens      int    // tokens of a step; 0: 512
	MaxRequestsPerBatch int    // requests running at a time; 0: 64
	MaxContext          int    // tokens of a request, prompt and generated; 0: the model's
	MaxQueueSize        int    // requests open at a time, queued and running; 0: 4096
	Seed                uint64 // what unseeded requests draw their seeds from; 0: random

	Log zerolog.Logger
}

// Info is the configuration in force.
type Info struct {
	Executor    string // name and instruction set
	Compute     string
	Threads     int
	Vocab       int
	EOS         []int32
	MaxContext  int // tokens of a request
	PageSize    int
	Blocks      int
	BatchTokens int
	BatchRows   int
	QueueSize   int
	Seed        uint64
	CacheBytes  int64 // address space of the KV pool; touched only as it is used
	WeightBytes int64
}
