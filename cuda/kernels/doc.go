// Package kernels launches the GPU's kernels: a method of Set for each, which knows its
// parameters, its grid, and which variant fits the sizes.
//
// The kernels are in src, one portable source that nvcc compiles for GPUs and g++ for the
// emulator of cuda/emu. `make cuda` compiles them into cuda/cubin.
//
// Conventions: everything is row-major. Activations that a matrix takes and the KV cache are
// bf16, matrices are in a Format, the rest is float32; ids, positions and sizes are int32. A
// product's inner length K is a multiple of 32, zero padded in both factors. Columns that are not
// named are not written. A pointer that may be absent is 0 then. Sizes are not checked
// against what pointers have: that is the executor's.
//
// Packed weights are exact: a product is of what q stands for in d*q or d*q+m, whole numbers
// that bf16 has, and sums over 32 of K are multiplied with d and added in float32, in the same
// order in all tiles.
//
// Batch invariance: what a row, a query or a token gets depends on its own inputs, to the
// bit. K is cut into ranges that depend on N and K (Parts), a context into segments at
// fixed positions (Segment).
//
// Ownership and concurrency: a Set has a module of a cuda.Context, and is used on that
// context's thread, like all that belongs to it. Nothing is allocated by a launch.
package kernels
