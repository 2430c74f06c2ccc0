// Command report writes docs/performance.md and its charts from the measurements in
// docs/performance: peers.json, of bench/compare/compare.py, and curves.json, of
// bench/compare/curves.py. Equal measurements give equal bytes. Run it from the
// repository's root:
//
//	go run ./bench/report
//
// Ownership: files are read, then written; nothing is shared. Concurrency: none.
package main
