// Package weights holds weight sets: the tensors of one model under their
// Hugging Face names, whatever file they came from, in one storage type each.
//
// Ownership: a Set is read-only once it was loaded; what an executor derives
// from it (packed, widened) belongs to the executor's view of that set and dies
// with it. Concurrency: a loaded Set may be read from any goroutine.
package weights
