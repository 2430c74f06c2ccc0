package bench

import "math/rand/v2"

// Synthetic is a workload of n requests, each with a prompt of its own of so many random
// ids below vocab, and so many tokens to generate. Equal arguments give equal ids, and no
// two prompts begin with the same id while n is at most vocab, so that none shares the
// cache of another. All arguments are 1 or more.
func Synthetic(n, prompt, generate, vocab int) []Case {
	random := rand.New(rand.NewPCG(uint64(n)<<32|uint64(generate), uint64(prompt)))
	cases := make([]Case, n)
	for i := range cases {
		ids := make([]int32, prompt)
		for j := range ids {
			ids[j] = int32(random.IntN(vocab))
		}
		ids[0] = int32(i % vocab)
		cases[i] = Case{Prompt: ids, MaxNew: generate}
	}
	return cases
}

// WarmUp is what is run before the clock of a workload, which has a request at least: of
// its shape, but short, at most 8 requests of 32 and 16 tokens, with random ids, so that
// nothing is in a cache that the workload would find. The peers get the same: see
// bench/compare/peer.py.
func WarmUp(cases []Case, vocab int) []Case {
	first := cases[0]
	return Synthetic(min(8, len(cases)), min(32, len(first.Prompt)), min(16, first.MaxNew), vocab)
}
