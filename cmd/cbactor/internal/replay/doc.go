// Package replay computes the tokens of a replay log again and compares them.
//
// A Player is a scheduler of its own over an executor.Loader, as plain as can be: it
// computes each sequence's cache by the weights that the log names, draws each token by
// the recorded seed, and goes on as long as they are the log's. A cache that was
// computed again is computed again here: a part of a sequence with one cache is a part
// that is admitted to the executor anew. Sequences whose next positions are of the same
// weights go side by side, since what each gets does not depend on its company.
//
// Weights change by the log's epochs, which executors want to ascend: each change gives
// the set a new epoch in the executor. At most two sets are loaded at a time; others
// are read again where they are needed.
//
// Ownership: a Player owns its executor. Sets are given by a Source and kept as long as
// they are loaded.
//
// Concurrency: a Player belongs to one goroutine.
package replay
