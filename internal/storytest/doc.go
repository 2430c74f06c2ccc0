// Package storytest plays scenarios that are told in files, for the tests of a core.
//
// Purpose: a file is a row of blocks, each with lines of things that happen and, below
// them, what came of it. A line is a verb with words: numbers, flags, name=value.
//
// Ownership and concurrency: a Story belongs to the test of one file.
package storytest
