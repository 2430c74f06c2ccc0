// Package cubin has the compiled kernels of cuda/kernels/src, for each architecture a cubin,
// and PTX, which a driver compiles for others.
//
// `make cuda` writes the files: compressed images, their digests, what each kernel takes of
// registers and shared memory (usage.txt), held against budget.txt. The same sources give
// the same images.
//
// Concurrency: functions of their arguments, used from anywhere.
package cubin
