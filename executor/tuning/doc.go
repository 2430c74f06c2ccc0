// Package tuning chooses figures of executors by measuring: how work is cut for kernels, on a machine and for a
// model, where no choice changes a bit of what is computed.
//
// Purpose: Tune is what an executor's configuration says of it; an Asker answers an executor's questions, by
// what is known from earlier starts, else by the time that runs take.
//
// Ownership: an Asker belongs to who made it, with its list of choices.
//
// Concurrency: an Asker is used by one goroutine, which runs what it measures.
package tuning
