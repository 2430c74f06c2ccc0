// Package hubcache says how models of a Hugging Face hub are named, where copies of
// them lie, and what of a copy is whole.
//
// Purpose: package hub writes copies, package checkpoint opens them; both read here
// where. A copy is a folder with a Record of its files beside them. A file that the
// record does not name is not whole, or not of the hub.
//
// Ownership and concurrency: values, and functions without state, for any goroutine. Who
// writes a record has the folder's lock.
package hubcache
