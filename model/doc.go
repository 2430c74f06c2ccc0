// Package model says what a model is: its family, the options of its forward
// pass, the names, shapes and storage types of its tensors.
//
// Purpose: one forward pass serves every family; a family is a row of options
// (Config), not a fork. Whatever a config asks for that is unknown here is
// refused with its name.
//
// Ownership and concurrency: everything is a value or read-only after it was
// made. The package has no goroutine, clock, log or IO.
package model
