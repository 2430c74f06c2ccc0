// Package story tells what a trace says of requests: one line each, or the story of
// one in sentences.
//
// Ownership and concurrency: values without goroutines; nothing is kept between calls.
package story
