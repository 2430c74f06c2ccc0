// Command rl-loop trains the embedded model by reinforcement learning while it
// generates: stories are sampled all the time, and every few of them change the
// weights, without a pause.
//
// The reward of a story is the share of its words that begin with one letter. The
// loop is REINFORCE (R. J. Williams, 1992) with the mean reward of a group of stories
// from one prompt as its baseline, and with truncated importance weights for tokens
// that older weights have sampled. It trains one tensor, the weight of the last norm:
//
//	logits = E (w * x)      E: embedding [vocabulary][hidden], which is the head too
//	                        w: model.norm.weight, x: normed state, both [hidden]
//
// so that the gradient of a token's log-probability is x * (E[token] - sum p(v) E[v]),
// element by element. x is found from the logits, which a Processor of the request
// copies: w * x is the solution of the least squares E h = logits. Whatever w sampled
// a token, its x has a mean square of 1; this shows that Output.WeightVersions names
// the right weights, and is reported.
//
// Ownership: a trainer has the engine, and alone changes the policy. Stories belong to
// the sampler that made them until the trainer takes their group.
//
// Concurrency: one goroutine trains, a few sample, each a group at a time. Samplers
// wait only where finished groups pile up, which bounds how old their weights are.
package main
