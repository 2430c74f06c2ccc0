// Package charts draws figures of measurements as SVG: bars per group and series, lines
// over a quantity, and rooflines, in which the rate of operations stands over how many
// of them there are for each byte read, under the limits of a machine.
//
// Purpose: a picture of numbers that are told as text, too. Equal input gives equal bytes,
// so that a committed chart changes with its numbers only. Fonts are the reader's. A
// library is not used: the one that is well kept, gonum/plot, brings fonts and writers of
// other formats along, which make the command 7 MB larger, from 27 to 34.
//
// Ownership: a call reads its argument and answers bytes that are the caller's.
//
// Concurrency: functions without state.
package charts
