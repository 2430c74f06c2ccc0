package cpuexec

import (
	"sync"
	"time"
)

// Operation is a part of a step.
type Operation int

const (
	OpEmbed     Operation = iota // rows of the embedding, angles of positions
	OpNorm                       // and activations made integers behind it
	OpQKV                        // the products that give queries, keys and values
	OpStore                      // rotation, and keys and values into the cache, where not beside attention
	OpAttention                  // of queries over the cache; where each item reads what it stores, OpStore too
	OpOut                        // the product behind attention
	OpRoute                      // experts chosen, tokens sorted by them
	OpGateUp                     // the two products of the feed-forward part, and its gate
	OpDown                       // the product behind it
	OpHead                       // logits
	OpSample                     // tokens from logits, and what is told of them
	OpQuantise                   // activations made integers, where not beside another operation
	OpWait                       // for other threads
	OpCopy                       // of blocks
	OpPack                       // of weights that are loaded beside steps
	OpExchange                   // what other ranks have computed, added up
	OpRest                       // rows laid out, threads woken, results filled in
	Operations                   // how many there are
)

var operationNames = [Operations]string{"embed", "norm", "qkv", "rope+store", "attention", "out", "experts", "gate+up", "down", "head", "sampling", "quantise", "waiting", "copies", "packing", "ranks", "rest"}

// String is the operation's name.
func (o Operation) String() string { return operationNames[o] }

// StepKind tells steps apart by what their rows compute.
type StepKind int

const (
	Decode    StepKind = iota // a token each
	Prefill                   // several tokens each
	Mixed                     // some the one, some the other
	StepKinds                 // how many there are
)

var kindNames = [StepKinds]string{"decode", "prefill", "mixed"}

// String is the kind's name.
func (k StepKind) String() string { return kindNames[k] }

// Work is what an operation did in a number of steps.
type Work struct {
	Calls int64         // times that the threads did it
	Time  time.Duration // that a thread spent on it, on average over the threads of each step

	// Ops are additions and multiplications, of matrix products and of attention:
	//
	//	2 * tokens * inputs * outputs, and 4 * query heads * head dimension * positions seen
	//
	// Those of adapters are not counted.
	Ops int64
	// Bytes are those that had to be read of weights and of the cache: panels once for each
	// 64 rows (or fewer, where Tune chose so), pages once for each stretch of tokens that attends together. What
	// is read of activations is not counted, nor what is written.
	Bytes   int64
	Integer bool // its products are of 8-bit integers
}

// Steps are sums over steps of a kind. The Time of all Work is theirs.
type Steps struct {
	Steps   int64
	Threads int64 // summed over steps
	Rows    int64
	Tokens  int64 // computed
	Time    time.Duration
	Work    [Operations]Work

	// Footprint is the size of the weights and pages that were read, each counted once for
	// each step.
	Footprint int64

	// LongestWait is that of a thread at one barrier: a long one shows that another thread
	// had to wait for its CPU.
	LongestWait time.Duration

	// Between is the time from the end of the step before, with sequences open then, to
	// the beginning of a step: what others than the executor add. Gaps is how often.
	Between time.Duration
	Gaps    int64
}

// Profile adds up where the time of an executor's steps goes, if it is its Config.Profile.
// Steps without tokens are not counted. Any goroutine may read it while steps go on.
type Profile struct {
	mu    sync.Mutex
	kinds [StepKinds]Steps
	ended time.Time // the last step, with sequences open; zero: none
}

// Reset forgets all steps so far.
func (p *Profile) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kinds, p.ended = [StepKinds]Steps{}, time.Time{}
}

// follow lets another executor add to the profile: the time between the steps of two is nobody's.
func (p *Profile) follow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = time.Time{}
}

// Of answers what was noted of steps of a kind.
func (p *Profile) Of(k StepKind) Steps {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kinds[k]
}
