// Package profile tells where the time of an engine's steps went, and how near their
// operations came to what the machine can do: as numbers, as a table and as a roofline.
//
// An operation is held against the limit that lets it be no faster: the peak of its
// arithmetic, or the bandwidth of what it reads. Where the weights and the cache that a step
// reads are less than half of the last-level cache, that cache's bandwidth is meant, since
// what is read again in each step stays there, and else that of memory. What is in a CPU's
// own caches can be read faster than either, so a small model has shares above 1.
//
// Ownership: a Report has no memory in common with what it was made of.
//
// Concurrency: functions and values without state of their own.
package profile
