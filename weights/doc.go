// Package weights holds weight sets: the tensors of one model under their
// Hugging Face names, whatever file they came from, in one storage type each; and
// the transactions that make one set from another while it serves.
//
// A Store keeps the set that serves and, while there is memory, the one before it.
// Begin opens an Update against a Manifest; Put stages chunks in any order; Commit
// makes the whole a new set under the next epoch, or changes nothing; Rollback goes
// back. Undo takes either back where nobody could compute with what came of it. What arrives in order is hashed, inspected and cast as it comes, so that
// Commit itself only exchanges a pointer. Sets share the memory of the tensors in
// which they do not differ. Where there is memory for one set, an Overwrite checks
// what is sent and then writes it, sent again, over what serves.
//
// Ownership: a Set is read-only once it was loaded or committed, but for an Overwrite
// while nobody uses it; what an executor derives from it (packed, widened) belongs to
// the executor's view of that set and dies with it. Who computes with a set tells the Store by Use and Done, since the
// memory of a set that nobody keeps is written again by the next update.
//
// Concurrency: a kept Set may be read from any goroutine. A Store belongs to one
// goroutine at a time, and so do Begin, Commit and Abort of its updates. Put,
// Missing and Check, also of an Overwrite, belong to one goroutine at a time, too,
// which may be another: they touch nothing of the Store, and no set that serves.
package weights
