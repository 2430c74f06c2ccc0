// Package cublaslt binds the part of NVIDIA's library of matrix products, cublasLt, that the
// executor for GPUs can use for large ones: bf16 times bf16, summed and answered in float32.
//
// The library is 550 MB, so it is never a part of this program: Open finds it at run time, of
// version 13 or 12. What is called, and with which numbers, is what its headers say (cublasLt.h,
// library_types.h of CUDA 12 and 13); the enumerations are part of its ABI.
//
// The library chooses an algorithm by the sizes of a product, so the sums of a row are added in an
// order that depends on how many rows there are: what a row gets depends on the batch. An algorithm
// is asked for once, by Handle.Product, and kept: asking fails while a stream is captured, and what
// is answered depends on the memory that is free at the moment.
//
// Ownership: products are closed before their handle, the handle before its context. The workspace
// is the caller's, one for each stream. A library stays open for the life of the process.
//
// Concurrency: a Library is used from anywhere, a Handle and its products on threads that their
// context is bound to, as package cuda says. Run may be called by several of them.
//
// It needs cgo on Linux; elsewhere Open answers ErrUnavailable. Product.Run does not allocate.
package cublaslt
