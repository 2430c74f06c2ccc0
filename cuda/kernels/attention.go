package kernels

import "github.com/cbactor/cbactor/cuda"

const (
	// ItemTokens is how many tokens an item of attention has at most.
	ItemTokens = 64
	// Segment is how many positions of a sequence are summed up by themselves: SEGMENT of
	// the source.
	Segment = 256
	// MaxDim is the largest size of a head.
	MaxDim = 256
)

// HeadWidth is how many elements a head takes in queries and in the cache: dim rounded up to
// 8, with zeros behind dim.
func HeadWidth(dim int) int { return (dim + 7) &^ 7 }

// QKV is what makes queries, keys and values of a product.
type QKV struct {
	Q, Pool      cuda.Pointer // bf16 [T][Heads*HeadWidth], and the cache's first block, at the layer's page
	Parts, Bias  cuda.Pointer // [Count][T][(Heads+2*KVHeads)*Dim]: heads of q, of k, of v. Bias may be absent
	Added        Added        // to the product
	QNorm, KNorm cuda.Pointer // weights [Dim], or with NormWhole [Heads*Dim] and [KVHeads*Dim]; absent: no norm
	Rope         cuda.Pointer // [.][Rot]: Rot/2 cosines of a position, and as many sines; absent: nothing is turned
	Pos, Slot    cuda.Pointer // [T]; padding has a position below 0 and is not looked at
	Tables       cuda.Pointer // [slot][Pages]: blocks

	Count, T, Heads, KVHeads, Dim int
	Rot                           int // elements of a head that are turned, i with i+Rot/2
	NormWhole                     bool
	Eps, Scale                    float32 // Scale: of queries
	Pages, Page                   int     // pages of a table, positions of a page
	BlockStride                   int     // elements from block to block
}

// QKV adds up the parts, normalises, turns, and writes queries and the page of a layer in the
// cache: for each key head K [Page][HeadWidth] and V likewise.
func (s *Set) QKV(stream *cuda.Stream, a *QKV) error {
	whole := 0
	if a.NormWhole {
		whole = 1
	}
	delta, adapted, joint := a.Added.args()
	return s.rows(stream, qkv, a.T, cuda.Address(a.Q), cuda.Address(a.Pool), cuda.Address(a.Parts), cuda.Address(a.Bias),
		delta, adapted, joint, cuda.Address(a.QNorm), cuda.Address(a.KNorm), cuda.Address(a.Rope), cuda.Address(a.Pos), cuda.Address(a.Slot),
		cuda.Address(a.Tables), cuda.Int(a.Count), cuda.Int(a.T), cuda.Int(a.Heads), cuda.Int(a.KVHeads), cuda.Int(a.Dim),
		cuda.Int(a.Rot), cuda.Int(whole), cuda.Float(a.Eps), cuda.Float(a.Scale), cuda.Int(a.Pages), cuda.Int(a.Page),
		cuda.Long(a.BlockStride))
}

// Attention is what answers queries.
type Attention struct {
	Out               cuda.Pointer // bf16 [T][LdOut]: Heads*Dim columns
	State             cuda.Pointer // [T][Heads][Segs][Dim+2] where Segs > 1, for AttentionMerge
	Q, Pool           cuda.Pointer // as QKV writes them
	Sinks             cuda.Pointer // [Heads]: a score more of each head, without a value; may be absent
	Items             cuda.Pointer // [N][2]: the first of some tokens that follow one another in a sequence, and how many, up to ItemTokens; 0: padding
	Pos, Slot, Tables cuda.Pointer // as in QKV

	N, T, Heads, KVHeads, Dim, LdOut int
	Pages, Page, BlockStride         int
	Window                           int     // positions that a query sees, its own among them; 0: all before it
	Cap                              float32 // scores are Cap*tanh(score/Cap); 0: as they are
	Segs                             int     // 1: whole contexts; else the segments that the longest has, each by itself
}

// sized is a kernel for heads of up to so many elements: Memory of the source.
type sized struct{ kernel, dim, warps, slices int }

var bySize = [...]sized{{attention64, 64, 4, 1}, {attention128, 128, 4, 1}, {attention256, MaxDim, 2, 2}}

// warpRows is how many queries a warp answers: ROWS of the source.
const warpRows = 16

// Attention answers the queries of the items' tokens: what they see of their sequences, in
// segments at fixed positions, merged in ascending order. Both ways give the same bits. Many
// tokens want Segs 1; few would leave most of the device idle then.
func (s *Set) Attention(stream *cuda.Stream, a *Attention) error {
	k := 0
	for a.Dim > bySize[k].dim {
		k++
	}
	v := bySize[k]
	threads, z := 32, a.Segs
	if a.Segs == 1 {
		threads, z = 32*v.warps, over(ItemTokens*a.Heads/a.KVHeads, v.warps*warpRows)
	}
	return s.functions[v.kernel].Launch(stream, grid(a.N, a.KVHeads*v.slices, z), grid(threads, 1, 1), 0,
		cuda.Address(a.Out), cuda.Address(a.State), cuda.Address(a.Q), cuda.Address(a.Pool), cuda.Address(a.Sinks),
		cuda.Address(a.Items), cuda.Address(a.Pos), cuda.Address(a.Slot), cuda.Address(a.Tables),
		cuda.Int(a.Heads), cuda.Int(a.KVHeads), cuda.Int(a.Dim), cuda.Int(a.LdOut), cuda.Int(a.Pages), cuda.Int(a.Page),
		cuda.Long(a.BlockStride), cuda.Int(a.Window), cuda.Float(a.Cap), cuda.Int(a.Segs))
}

// AttentionMerge merges the states that Attention has written of t tokens, with the same sinks
// and window.
func (s *Set) AttentionMerge(stream *cuda.Stream, out, state, sinks, pos cuda.Pointer, t, heads, dim, ldOut, segs, window int) error {
	return s.functions[attentionMerge].Launch(stream, grid(heads, t, 1), grid(over(dim, 32)*32, 1, 1), 0,
		cuda.Address(out), cuda.Address(state), cuda.Address(sinks), cuda.Address(pos), cuda.Int(dim), cuda.Int(ldOut),
		cuda.Int(segs), cuda.Int(window))
}
