package model

import "fmt"

// Validate checks that the numbers fit together and are small enough that no
// size computed from them overflows. Whoever makes a Config by other means than
// ParseConfig calls it. Errors wrap ErrConfig or ErrUnsupported.
func (c *Config) Validate() error {
	for _, n := range []struct {
		name         string
		value, limit int
	}{
		{"vocabulary", c.Vocab, maxVocab},
		{"hidden size", c.Hidden, maxWidth},
		{"intermediate size", c.Intermediate, maxWidth},
		{"number of layers", c.Layers, maxLayers},
		{"number of heads", c.Heads, maxHeads},
		{"number of key-value heads", c.KVHeads, c.Heads},
		{"head dimension", c.HeadDim, maxHeadDim},
		{"context length", c.MaxPosition, maxContext},
	} {
		if n.value < 1 || n.value > n.limit {
			return fmt.Errorf("%w: %s is %d, want 1 to %d", ErrConfig, n.name, n.value, n.limit)
		}
	}
	if c.Heads%c.KVHeads != 0 {
		return fmt.Errorf("%w: %d heads are no multiple of %d key-value heads", ErrConfig, c.Heads, c.KVHeads)
	}
	if c.HeadDim%2 != 0 {
		return fmt.Errorf("%w: head dimension %d is odd, rotary embedding needs pairs", ErrConfig, c.HeadDim)
	}
	if !(c.NormEps > 0 && c.NormEps < 1) { // refuses NaN too
		return fmt.Errorf("%w: norm epsilon is %g", ErrConfig, c.NormEps)
	}
	if len(c.Attn) != c.Layers {
		return fmt.Errorf("%w: %d attention kinds for %d layers", ErrConfig, len(c.Attn), c.Layers)
	}
	if c.BOS < -1 || int(c.BOS) >= c.Vocab {
		return fmt.Errorf("%w: start token %d is outside of the vocabulary of %d", ErrConfig, c.BOS, c.Vocab)
	}
	for _, id := range c.EOS {
		if id < 0 || int(id) >= c.Vocab {
			return fmt.Errorf("%w: end token %d is outside of the vocabulary of %d", ErrConfig, id, c.Vocab)
		}
	}
	return c.Rope.validate(c.HeadDim)
}
