// Package hubtest is a server for tests that speaks the routes of a Hugging Face hub:
// commits, lists by pages, files, large ones by a redirect to another port, where they
// come in ranges.
//
// Ownership and concurrency: a Server ends with its test, or when it is stopped. Its methods may be called from
// any goroutine; a hook runs on those of the server.
package hubtest
