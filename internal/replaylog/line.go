package replaylog

import (
	"time"

	"github.com/cbactor/cbactor/sampling"
)

// Version is the version of the format. It is that of the first logs: a field that came
// later means, where it is missing, what was the only way before.
const Version = 1

// Header is the first line of a log.
type Header struct {
	Version   int       `json:"cbactor_replay_log"`
	Start     time.Time `json:"start"`
	Executor  string    `json:"executor"` // its name, with the instruction set: "cpu avx2 f32 kv f32"
	Compute   string    `json:"compute"`
	Quantize  string    `json:"quantize,omitempty"` // what float weights became; "": nothing
	KVType    string    `json:"kv_dtype"`           // "", of older logs: f32
	Attention string    `json:"attention"`
	PageSize  int       `json:"page_size"`
	Vocab     int       `json:"vocab"`
	Seed      uint64    `json:"seed"` // of the engine: requests have their own
}

// Line is one line behind the header: one of these.
type Line struct {
	Weights  *Weights  `json:"weights,omitempty"`
	Request  *Request  `json:"request,omitempty"`
	Sequence *Sequence `json:"sequence,omitempty"`
	Lost     int64     `json:"lost,omitempty"` // lines that are missing here
}

// Weights are those of an epoch. Epochs ascend.
type Weights struct {
	Epoch   uint32 `json:"epoch"`
	Version string `json:"version"`
	Digest  string `json:"digest"` // weights.Set.Digest, as weights.ParseDigest reads it
	Source  string `json:"source"` // where they were read from; "": the program sent them
}

// Request is a request that was accepted.
type Request struct {
	Number    uint64          `json:"number"` // ascends from 1: ids may come again
	ID        string          `json:"id"`
	Prompt    []int32         `json:"prompt"`
	MaxNew    int             `json:"max_new,omitempty"` // as asked for, 0: until the context is full
	EOS       []int32         `json:"eos,omitempty"`
	Sampling  sampling.Params `json:"sampling"` // without Tell and Processor
	Processor bool            `json:"processor,omitempty"`
	Adapter   string          `json:"adapter,omitempty"`
	Seed      uint64          `json:"seed"`
	Sequences int             `json:"sequences"`
}

// Sequence is what became of one sequence of a request.
type Sequence struct {
	Request uint64  `json:"request"` // Request.Number
	Child   int32   `json:"child"`   // from 0 on
	Finish  string  `json:"finish"`
	Matched bool    `json:"matched,omitempty"` // with finish "stop": what the program looks for was found
	Tokens  []int32 `json:"tokens,omitempty"`
	Sampled []Run   `json:"sampled,omitempty"` // which weights sampled the tokens from Start on
	Caches  []Cache `json:"caches,omitempty"`
}

// Cache is one that a sequence had while it drew the tokens from First on, up to those
// of the next: which weights computed its positions from Start on.
type Cache struct {
	First int   `json:"first"`
	Runs  []Run `json:"runs"`
}

// Run is what the weights of an epoch did from Start on, up to the next run.
type Run struct {
	Epoch uint32 `json:"epoch"`
	Start int32  `json:"start"`
}
