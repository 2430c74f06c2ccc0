// Package kernels has the inner loops of the CPU executor: products with weight
// panels, of float32 or of rows quantised to 8 bits, attention over a tile of the cache,
// norms, rotation, the gate of the feed-forward part; what sampling does with all logits
// of a row; and how rows of weights become panels.
//
// Purpose: a Set is one implementation of all of them. There are three, for
// AVX-512 (products of bytes need VNNI, too), for AVX2 with FMA, and in plain Go. The
// first two are assembly that the module in gen writes (go generate there); plain Go is
// their twin, and serves CPUs that have neither, arm64, and builds with the tag noasm.
//
// Results: all Sets give the same bits. Each output is one chain of operations in
// one order (outputs stand in lanes, k ascends, multiply and add are fused),
// whatever the width of the registers and whatever is computed beside it. Products
// of bytes are exact sums in blocks of 32 k, whose scales then make one such chain.
//
// Layouts: a panel is 32 columns of a weight matrix as [k][32], padded with zeros, or
// as its Format says.
// A cache page holds K as [dim][positions] and V as [position][dim], in int8 by fours:
// of dimensions, of positions.
//
// Ownership and concurrency: a Set has no state; everything is in the caller's
// slices. Any number of goroutines may use one. Assembly cannot be preempted: a
// call takes up to 6 ns per k for 12 rows, so 10 microseconds for k = 1536; products of
// bytes are cut into calls of 40 microseconds at most, and one of attention takes less.
package kernels
