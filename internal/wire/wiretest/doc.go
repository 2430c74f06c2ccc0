// Package wiretest has a network that misbehaves, for tests: a Proxy between clients and a server.
//
// Ownership: a Proxy owns the connections it has accepted and made. Concurrency: it may be used
// from any goroutine.
package wiretest
