//go:build !amd64 || noasm

package kernels

// native lists the assembly Sets: none here.
func native() []*Set { return nil }

// Pause tells the CPU that this thread spins, where there is a way to.
func Pause() {}
