package model

import "slices"

// Largest numbers of experts, each of which has tensors of its own.
const (
	maxExperts    = 1 << 12 // of a layer
	maxAllExperts = 1 << 16
)

// experts reads how many there are, and how many of them a token takes. Both are one MLP
// each of intermediate_size, unless a setting behind it says otherwise.
func experts(def, perToken int) setting {
	return setting{
		names: []string{"num_local_experts", "num_experts", "num_experts_per_tok"},
		read: func(f *fields, c *Config) {
			c.MoE = &MoE{
				Experts:      value(f, "num_local_experts", value(f, "num_experts", def)),
				PerToken:     value(f, "num_experts_per_tok", perToken),
				Intermediate: c.Intermediate,
			}
		},
		write: func(c *Config, out map[string]any) {
			out["num_local_experts"], out["num_experts"], out["num_experts_per_tok"] = c.MoE.Experts, c.MoE.Experts, c.MoE.PerToken
		},
	}
}

// normalizeExperts divides the weights of the chosen by their sum.
var normalizeExperts = setting{
	read: func(_ *fields, c *Config) { c.MoE.Normalize = true },
}

// normalize does so where the file says it.
var normalize = setting{
	names: []string{"norm_topk_prob"},
	read:  func(f *fields, c *Config) { c.MoE.Normalize = value(f, "norm_topk_prob", false) },
	write: func(c *Config, out map[string]any) { out["norm_topk_prob"] = c.MoE.Normalize },
}

// expertSize is that of experts, where layers without them have another.
var expertSize = setting{
	names: []string{"moe_intermediate_size"},
	read:  func(f *fields, c *Config) { c.MoE.Intermediate = value(f, "moe_intermediate_size", 768) },
	write: func(c *Config, out map[string]any) { out["moe_intermediate_size"] = c.MoE.Intermediate },
}

// someDense says which layers have one MLP instead.
var someDense = setting{
	names: []string{"mlp_only_layers", "decoder_sparse_step"},
	read: func(f *fields, c *Config) {
		only, step := values[int](f, "mlp_only_layers"), value(f, "decoder_sparse_step", 1)
		if step < 1 {
			f.fail("%w: decoder_sparse_step is %d, want 1 or more", ErrConfig, step)
			return
		}
		dense := make([]bool, c.Layers)
		for l := range dense {
			dense[l] = (l+1)%step != 0
		}
		for _, l := range only {
			if l >= 0 && l < c.Layers {
				dense[l] = true
			}
		}
		if slices.Contains(dense, true) {
			c.MoE.Dense = dense
		}
	},
	write: func(c *Config, out map[string]any) {
		only := []int{}
		for l := range c.MoE.Dense {
			if c.MoE.Dense[l] {
				only = append(only, l)
			}
		}
		out["mlp_only_layers"], out["decoder_sparse_step"] = only, 1
	},
}

// allExperts are those of gpt-oss: the softmax is over the chosen ones, everything has a
// bias.
var allExperts = setting{
	names: []string{"quantization_config"},
	read: func(f *fields, c *Config) {
		c.MoE.ChosenOnly, c.MoE.RouterBias = true, true
		if method := f.quantization(); method == "fp8" {
			f.refuseQuantization(method)
		}
	},
}

// clamped has the figures of the clamped activation, which are the same in all models.
var clamped = setting{
	names: []string{"swiglu_alpha", "swiglu_limit"},
	read: func(f *fields, _ *Config) {
		if a, l := value(f, "swiglu_alpha", ClampAlpha), value(f, "swiglu_limit", ClampLimit); a != ClampAlpha || l != ClampLimit {
			f.fail("%w: swiglu_alpha %g with swiglu_limit %g is not implemented", ErrUnsupported, a, l)
		}
	},
}

// HasExperts tells that a layer has a mixture of experts in place of one MLP.
func (c *Config) HasExperts(layer int) bool {
	return c.MoE != nil && (c.MoE.Dense == nil || !c.MoE.Dense[layer])
}
