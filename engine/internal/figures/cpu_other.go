//go:build !linux && !darwin

package figures

import "os"

// model is the CPU's, which Windows says in the environment; "": it is not known.
func model() string { return os.Getenv("PROCESSOR_IDENTIFIER") }
