// Package familytest has tiny models of every family, what the reference computes for them,
// and random adapters, for tests.
//
// Purpose: the models that are committed have no weights but a formula of them, and so cost
// a few kilobytes each; here they are written out as checkpoints. Instead, or of another
// seed, a folder of checkpoints with their goldens can be named in CBACTOR_FAMILIES.
//
// Ownership and concurrency: values, and files in the folders of tests. Nothing is shared.
package familytest
