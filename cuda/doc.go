// Package cuda binds the part of NVIDIA's driver API that the executor for GPUs needs:
// devices, memory, modules, launches, streams, events and graphs.
//
// The driver is found at run time, by Open, never at build time: a build needs no header
// and no library of NVIDIA, and runs where there is no GPU. Functions are looked up with
// cuGetProcAddress as CUDA 12.0 has them, so that a newer driver answers with the same
// ABI. It needs cgo on Linux; elsewhere Open answers ErrUnavailable.
//
// Ownership: everything that is made here is closed by who made it, the context last.
// Nothing is freed by the garbage collector, which runs on threads without a context.
// Memory is named by plain values (Pointer, a slice of pinned memory), which own nothing.
//
// Concurrency: a driver's context belongs to OS threads. Methods of a Context and of all
// that is made from it are called on a thread that runtime.LockOSThread holds and
// Context.Bind has bound. A Library and a Device are read-only and used from anywhere.
//
// In the steady state no call allocates. Errors are *Error, with the name that the driver
// gives; ErrOutOfMemory and ErrDeviceLost are the two that callers tell apart.
package cuda
