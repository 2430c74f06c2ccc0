// Package certs makes the certificates of a small authority of one's own, and reads certificates
// for connections on which both sides show one.
//
// It is for tests, and for a few machines that trust each other. Nothing is revoked: a
// certificate is good until it expires, or the authority is replaced.
//
// Ownership and concurrency: values; files are the caller's.
package certs
