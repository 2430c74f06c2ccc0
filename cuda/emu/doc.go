// Package emu is a device on the CPU, for tests: a libcuda.so.1 that keeps the driver's
// rules and runs the real kernels' sources, where there is no GPU.
//
// Four parts are written in C++ and are built once, with g++, into the user's cache:
//   - driver: the fake driver. It reads real cubins and checks launches against them, guards
//     memory and fills it with NaN, keeps the rules of contexts, captures and sticky errors,
//     tells who writes to pinned memory that a copy is still to read, or destroys a graph that
//     is not done, which a driver would only free later, and is as late as it may
//     be, nothing is done until somebody waits for it, or with copies as early as they may be.
//   - shim: kernels compiled for the CPU, each thread a fiber. It tells divergent barriers
//     and collectives, deadlocks, too much shared memory, and addresses out of bounds.
//   - cublaslt: a fake of NVIDIA's library of products over the fake driver, see CublasLt.
//   - ptx: an interpreter of the PTX that the compiler wrote, which also tells races in
//     shared memory, misaligned accesses, and accesses past an allocation.
//
// What passes here has the right numbers, indices, barriers and calls. It shows nothing of
// speed, of code that ptxas makes, of the rounding of tensor cores, or of races between
// blocks.
//
// Ownership: Open gives each test a driver of its own, with its own memory and errors.
// Concurrency: as package cuda says; the driver does one call at a time, and the blocks of
// a kernel on up to four threads.
//
// On a machine with a GPU the same tests run on it, where Hardware says so: scripts/gpu-check
// does that. What only an emulated device can do they leave out by Only, and by Loses what
// loses the device.
//
// A test is skipped, with the reason, where g++ or cgo is missing or the machine is no
// x86-64; with CBACTOR_REQUIRE_ASSETS=1 it fails where g++ alone is missing.
package emu
