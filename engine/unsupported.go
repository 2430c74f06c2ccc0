package engine

import "github.com/cbactor/cbactor/checkpoint"

// Unsupported names what a model's authors recommend of sampling and the engine
// does not have.
func Unsupported(g checkpoint.Generation) []string {
	var names []string
	if g.RepetitionPenalty != nil && *g.RepetitionPenalty != 1 {
		names = append(names, "repetition_penalty")
	}
	if g.MinP != nil && *g.MinP != 0 && g.DoSample != nil && *g.DoSample {
		names = append(names, "min_p")
	}
	return names
}
