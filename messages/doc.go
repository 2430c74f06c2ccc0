// Package messages has what can cross a process boundary, and the control
// messages: protobuf, generated from the .proto files beside it.
//
// Ownership: a message sent is not touched again by its sender. Concurrency: none
// of its own.
//
// `make proto` generates the code again; the generator is in gen.
package messages
