package model

import (
	"fmt"
	"slices"
)

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
	for _, check := range []func() error{c.validateLayers, c.validateScales, c.validateExperts} {
		if err := check(); err != nil {
			return err
		}
	}
	if c.SlidingRope != nil {
		if err := c.SlidingRope.validate(c.RotaryDims()); err != nil {
			return err
		}
	}
	return c.Rope.validate(c.RotaryDims())
}

// validateLayers checks what layers may have each for itself, and which part of a head they
// turn.
func (c *Config) validateLayers() error {
	if slices.Contains(c.Attn, Sliding) && (c.Window < 1 || c.Window > maxContext) {
		return fmt.Errorf("%w: layers have sliding attention with a window of %d, want 1 to %d", ErrConfig, c.Window, maxContext)
	}
	if c.NoRope != nil && len(c.NoRope) != c.Layers {
		return fmt.Errorf("%w: %d entries say which of %d layers are not turned", ErrConfig, len(c.NoRope), c.Layers)
	}
	if c.RotaryDim < 0 || c.RotaryDim > c.HeadDim || c.RotaryDim%2 != 0 {
		return fmt.Errorf("%w: %d elements of heads of %d are turned, want an even number of them", ErrConfig, c.RotaryDim, c.HeadDim)
	}
	return nil
}

// validateScales checks factors, of which 0 says that there is none.
func (c *Config) validateScales() error {
	for _, x := range []struct {
		name  string
		value float64
	}{
		{"attention scale", c.AttnScale}, {"attention soft-cap", c.AttnSoftcap}, {"embedding scale", c.EmbedScale},
		{"residual scale", c.ResidualScale}, {"logit scale", c.LogitScale}, {"logit soft-cap", c.LogitSoftcap}, {"norm offset", c.NormOffset},
	} {
		if x.value != 0 && !(x.value >= 1e-9 && x.value <= 1e9) {
			return fmt.Errorf("%w: %s is %g", ErrConfig, x.name, x.value)
		}
	}
	return nil
}

func (c *Config) validateExperts() error {
	m := c.MoE
	switch {
	case m == nil:
	case m.Experts < 1 || m.Experts > maxExperts:
		return fmt.Errorf("%w: number of experts is %d, want 1 to %d", ErrConfig, m.Experts, maxExperts)
	case m.Experts*c.Layers > maxAllExperts:
		return fmt.Errorf("%w: %d experts in each of %d layers, want %d at most in all", ErrConfig, m.Experts, c.Layers, maxAllExperts)
	case m.PerToken < 1 || m.PerToken > m.Experts:
		return fmt.Errorf("%w: %d experts a token, want 1 to %d", ErrConfig, m.PerToken, m.Experts)
	case m.Intermediate < 1 || m.Intermediate > maxWidth:
		return fmt.Errorf("%w: intermediate size of an expert is %d, want 1 to %d", ErrConfig, m.Intermediate, maxWidth)
	case m.Dense != nil && len(m.Dense) != c.Layers:
		return fmt.Errorf("%w: %d entries say which of %d layers have no experts", ErrConfig, len(m.Dense), c.Layers)
	}
	return nil
}
