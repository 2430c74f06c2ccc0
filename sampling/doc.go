// Package sampling turns logits into a token.
//
// Purpose: a token is a function of its row's logits, the request's Params, the
// sequence so far (History) and its Key (seed, child, position). No generator and no
// count is shared or kept, so neither the company of other requests nor a history
// that is computed again can change a draw.
//
//	raw logits ─ processors ─ greedy: the largest
//	    │                   └ temperature ─ filters ─ draw by Key.Uniform
//	    └ Raw, Top                                  └ Sampled, Kept
//
// Processors change logits by the history: biases, penalties, bans, the caller's own
// code. Filters drop tokens from the distribution: top-k, top-p, min-p, typical-p.
// Their order and meaning are those of Transformers 5.23, whose answers are in
// testdata. Arithmetic on logits is float32, on probabilities float64, by operations that
// round alike on every CPU, but for the logarithm that typical-p and log-probabilities take.
//
// Speed: all logits are looked at once for the largest, and once more for the few that
// filters leave or for the sum of all weights; Passes are how, and a caller may have
// faster ones.
//
// A device that draws tokens does so by the same operations, in the same order; Softmax makes
// log-probabilities of what it finds.
//
// Ownership and concurrency: a Sampler owns scratch memory and serves one
// goroutine, on which it calls a request's Processor; Params is a value whose slices
// are only read. No goroutine, clock, log or IO.
package sampling
