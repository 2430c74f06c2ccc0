// Package sampling turns logits into a token.
//
// Purpose: a token is a function of its row's logits, the request's Params and
// (seed, child, position). No generator is shared, so the company of other
// requests cannot change a draw.
//
// Ownership and concurrency: a Sampler owns scratch memory and serves one
// goroutine; Params is a value. No goroutine, clock, log or IO.
package sampling
