// Package fuzztest fuzzes what reads files: it judges time and memory of each input, and
// keeps the inputs that were found.
//
// Purpose: Fuzz is (*testing.F).Fuzz with limits, and with the package's kept corpus as
// seeds. That is a file, testdata/fuzz/NAME.gz for the fuzzer NAME, so that hundreds of
// small inputs are not as many files. test/corpus.sh makes it of what fuzzing has found.
//
// What is measured: memory is all that was allocated while the target ran, garbage included,
// and so never less than what it held at once. What others allocate meanwhile counts too.
// Time is that of processors, so that a busy machine makes no input a slow one, and is judged
// only while fuzzing: a test that runs the kept inputs ends one that takes minutes, no other.
//
// Ownership and concurrency: one fuzzer of a process runs at a time, as package testing
// has it.
package fuzztest
