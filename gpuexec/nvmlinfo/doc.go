// Package nvmlinfo reads what NVIDIA's management library, NVML, tells of the GPUs of this
// machine: names, memory, how busy they are, temperature, power, clock.
//
// Purpose: metrics and `cbactor devices`. Nothing is computed by it: the executor asks the driver
// API, and runs without NVML.
//
// It is there in builds with the tag nvml, with cgo, for Linux; in others Open answers
// ErrUnavailable. The tag is there since NVML's binding takes cgo and 3 MB of program, and since
// one of its functions that is called while the library is not loaded ends the process: here all
// calls are methods of a Reader, which there is only when NVML's Init has succeeded.
//
// Ownership: a Reader holds the library until Close; readings are plain values.
//
// Concurrency: a Reader is used from any goroutine. A reading takes some milliseconds, most of
// them for the power; Close waits for readings.
package nvmlinfo
