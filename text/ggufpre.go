package text

import "github.com/cbactor/cbactor/checkpoint"

// stepsOf are the steps of a pre-tokenizer that a GGUF file names.
func stepsOf(p checkpoint.PreTokenizer) (pipeline, error) {
	var all pipeline
	for _, pattern := range p.Patterns {
		s, err := isolating(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
