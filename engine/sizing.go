package engine

import (
	"fmt"

	"github.com/cbactor/cbactor/executor"
)

// Sizing is the input of the formula by which Transformers 5.23 sizes the cache of
// a device from its memory; Size computes it. It is for executors that a program passes
// in; the engine's own plan their buffers exactly.
//
// Symbols in the comments are those of the formula. All numbers are those of a model
// and a configuration that were checked.
type Sizing struct {
	ElementBytes int64 // a, of activations and cache
	Hidden       int64 // h
	Vocab        int64 // V
	HeadDim      int64 // d
	Heads        int64 // Hq
	KVHeads      int64 // Hkv
	GroupLayers  []int // layers of each kind of attention

	PageSize         int64
	BlocksPerRequest int64 // W; 0: no decode fast path
	MaxRequests      int64 // R; 0: 1024

	Fused        bool // attention needs neither masks nor keys repeated for each head
	Sliding      bool // one of the kinds is
	LogitsToKeep bool // ltk: only rows that sample reach the output head
	Async        bool // two plans in flight
	Logprobs     bool

	Available int64 // avail, in bytes
	MaxTokens int64 // M; 0: 8192
	NumBlocks int64 // blocks over all layers; 0: as many as fit
}

// Sized is what the formula gives, in bytes where not said otherwise.
type Sized struct {
	Sector     int64 // S, what the pool hands to a kind of attention
	PerToken   int64 // c_M, of a step
	PerRead    int64 // c_N, of a cache token that can be read
	PerSector  int64 // c_S, with what reading it takes
	Fixed      int64 // F
	Masks      int64
	Footprint  int64
	MaxTokens  int64 // tokens of a step
	Sectors    int64 // number
	Blocks     int64 // number, over all layers
	MaxRequest int64 // requests at a time
}

// Defaults of the formula.
const (
	formulaTokens   = 8192
	formulaRequests = 1024
)

// Size computes
//
//	P   = 2 Hkv d a page;  B_t = P layers_t;  S = lcm(B_t, 128);  tau = max_t S/B_t page;  b = P layers
//	kv* = 2 Hkv if fused, else 2 Hq + Hkv;  m = 0 if fused, else 1, or 2 with sliding
//	A   = a (h + Hq d + 2 Hkv d + kv* d);  L = 0 if ltk, else a h + 4 V
//	c_M = max(A, L) + io (28 + 4 o + 4 G W + 16 G);  c_N = kv* d a + 8 io G;  c_S = S + tau c_N
//	F   = 2 S + [ltk] R (a h + 4 V);  mask(n) = io m a M (n tau + M)
//	n   = ceil(blocks b / S), or n0 - ceil(mask(n0) / (c_S + io m a M tau)) with n0 = (avail - F - M c_M) / c_S
//	footprint = F + M c_M + n c_S + mask(n)
//
// for G kinds of attention, io = 2 with async, o = 2 with logprobs. The error is an
// ErrMemory when not even a sector fits.
func (s Sizing) Size() (Sized, error) {
	tokens, requests := orElse(s.MaxTokens, formulaTokens), orElse(s.MaxRequests, formulaRequests)
	memory := executor.Geometry{PageSize: int(s.PageSize), PageBytes: 2 * s.KVHeads * s.HeadDim * s.ElementBytes * s.PageSize, Layers: s.GroupLayers}
	z, tau := Sized{Sector: memory.SectorBytes(), MaxTokens: tokens}, int64(memory.SectorTokens())
	io := 1 + flag(s.Async)
	masks, kv := 1+flag(s.Sliding), 2*s.Heads+s.KVHeads
	if s.Fused {
		masks, kv = 0, 2*s.KVHeads
	}
	groups, head := int64(len(s.GroupLayers)), s.ElementBytes*s.Hidden+4*s.Vocab
	z.PerToken = s.ElementBytes * (s.Hidden + s.Heads*s.HeadDim + 2*s.KVHeads*s.HeadDim + kv*s.HeadDim)
	z.Fixed = 2 * z.Sector
	if s.LogitsToKeep {
		z.Fixed += requests * head
	} else {
		z.PerToken = max(z.PerToken, head)
	}
	z.PerToken += io * (28 + 4*(1+flag(s.Logprobs)) + 4*groups*s.BlocksPerRequest + 16*groups)
	z.PerRead = kv*s.HeadDim*s.ElementBytes + 8*io*groups
	z.PerSector = z.Sector + tau*z.PerRead

	perMask := io * masks * s.ElementBytes * tokens // bytes of mask for each token of cache and of the step
	if s.NumBlocks > 0 {
		z.Sectors = int64(memory.MinSectors(int(s.NumBlocks)))
	} else if room := s.Available - z.Fixed - tokens*z.PerToken; room > 0 {
		n0 := room / z.PerSector
		z.Sectors = n0 - ceilDiv(perMask*(n0*tau+tokens), z.PerSector+perMask*tau)
	}
	z.Masks = perMask * (z.Sectors*tau + tokens)
	z.Footprint = z.Fixed + tokens*z.PerToken + z.Sectors*z.PerSector + z.Masks
	if z.Sectors < 1 || z.Footprint > s.Available {
		return z, fmt.Errorf("%w: %d tokens a step and %d sectors take %d bytes, there are %d; use fewer tokens or blocks",
			ErrMemory, tokens, z.Sectors, z.Footprint, s.Available)
	}
	z.Blocks, z.MaxRequest = int64(memory.WholeBlocks(int(z.Sectors))), min(requests, tokens)
	return z, nil
}

// BlocksPerRequest is how wide block tables are on the decode fast path: for the
// longest request that is hinted, one more, and even; 32 without hints.
func BlocksPerRequest(h Hints, pageSize int) int {
	length := int64(h.MaxPrompt) + int64(h.MaxNew)
	if length == 0 {
		return 32
	}
	blocks := ceilDiv(length, int64(pageSize)) + 1
	return int(blocks + blocks%2)
}

func orElse(v, otherwise int64) int64 {
	if v == 0 {
		return otherwise
	}
	return v
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
