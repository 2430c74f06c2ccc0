// Package wiretest has a network that misbehaves, for tests: a Proxy between clients and a server; and
// PlainStream, which is what package wire's speed is compared with.
//
// Ownership: a Proxy owns the connections it has accepted and made. Concurrency: it may be used
// from any goroutine.
package wiretest
