package model

import (
	"math"
	"slices"
)

// setting is fields of config.json that say something of the options of a family, read
// and, unless others say it all, written. Of a family without the setting they must say nothing: see neutral.
type setting struct {
	names []string
	read  func(*fields, *Config)
	write func(*Config, map[string]any)
}

// reads tells that one of the family's settings has a field.
func (f *family) reads(name string) bool {
	return slices.ContainsFunc(f.settings, func(s setting) bool { return slices.Contains(s.names, name) })
}

func attentionBias(def bool) setting {
	return setting{
		names: []string{"attention_bias"},
		read:  func(f *fields, c *Config) { c.AttnBias = value(f, "attention_bias", def) },
		write: func(c *Config, out map[string]any) { out["attention_bias"] = c.AttnBias },
	}
}

var mlpBias = setting{
	names: []string{"mlp_bias"},
	read:  func(f *fields, c *Config) { c.MLPBias = value(f, "mlp_bias", false) },
	write: func(c *Config, out map[string]any) { out["mlp_bias"] = c.MLPBias },
}

// geluTanh is the activation of Gemma. hidden_act, which older files have beside it, is
// not what the reference goes by.
var geluTanh = setting{
	names: []string{"hidden_activation", "hidden_act"},
	read: func(f *fields, c *Config) {
		const want = "gelu_pytorch_tanh"
		if name := value(f, "hidden_activation", want); name != want {
			f.fail("%w: hidden_activation %.80q is not implemented", ErrUnsupported, name)
		}
		c.Activation = GELUTanh
	},
	write: func(_ *Config, out map[string]any) {
		out["hidden_activation"], out["hidden_act"] = "gelu_pytorch_tanh", "gelu_pytorch_tanh"
	},
}

// rootOfHidden scales embeddings by the root of the hidden size, rounded to the type of the
// embedding, which the file announces, as the reference does.
var rootOfHidden = setting{
	read: func(_ *fields, c *Config) {
		root := float32(math.Sqrt(float64(c.Hidden)))
		switch c.Stored {
		case BF16:
			root = math.Float32frombits(uint32(ToBF16(root)) << 16)
		case F16:
			root = FromF16(ToF16(root))
		}
		c.EmbedScale = float64(root)
	},
}

// queryScalar scales products of queries and keys by one over the root of a number.
var queryScalar = setting{
	names: []string{"query_pre_attn_scalar"},
	read: func(f *fields, c *Config) {
		c.AttnScale = 1 / math.Sqrt(f.positive("query_pre_attn_scalar", 256))
	},
	write: func(c *Config, out map[string]any) {
		out["query_pre_attn_scalar"] = math.Round(1e6/(c.AttnScale*c.AttnScale)) / 1e6 // exact for what is written with 6 places
	},
}

// softcaps of attention and logits.
var softcaps = setting{
	names: []string{"attn_logit_softcapping", "final_logit_softcapping"},
	read: func(f *fields, c *Config) {
		c.AttnSoftcap = f.orNone("attn_logit_softcapping", 50)
		c.LogitSoftcap = f.orNone("final_logit_softcapping", 30)
	},
	write: func(c *Config, out map[string]any) {
		out["attn_logit_softcapping"] = numberOrNull(c.AttnSoftcap)
		out["final_logit_softcapping"] = numberOrNull(c.LogitSoftcap)
	},
}

// finalSoftcap is that of the logits, none by default. As in the reference, a model that sees
// has none, whatever the file says, and neither has any attention.
var finalSoftcap = setting{
	names: []string{"attn_logit_softcapping", "final_logit_softcapping"},
	read: func(f *fields, c *Config) {
		if !f.inside {
			c.LogitSoftcap = f.orNone("final_logit_softcapping", 0)
		}
	},
	write: func(c *Config, out map[string]any) {
		out["attn_logit_softcapping"], out["final_logit_softcapping"] = nil, numberOrNull(c.LogitSoftcap)
	},
}

// causal refuses attention to later positions.
var causal = setting{
	names: []string{"use_bidirectional_attention"},
	read: func(f *fields, _ *Config) {
		if value(f, "use_bidirectional_attention", false) {
			f.fail("%w: use_bidirectional_attention is not implemented", ErrUnsupported)
		}
	},
}

// multipliers of Granite: of embeddings, of products of queries and keys, of what the
// halves of a layer add; logits are divided.
var multipliers = setting{
	names: []string{"embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"},
	read: func(f *fields, c *Config) {
		c.EmbedScale = f.positive("embedding_multiplier", 1)
		c.AttnScale = f.positive("attention_multiplier", 1)
		c.ResidualScale = f.positive("residual_multiplier", 1)
		c.LogitScale = 1 / f.positive("logits_scaling", 1)
	},
	write: func(c *Config, out map[string]any) {
		out["embedding_multiplier"] = c.EmbedScale
		out["attention_multiplier"] = c.AttnScale
		out["residual_multiplier"] = c.ResidualScale
		out["logits_scaling"] = 1 / c.LogitScale
	},
}

// noRope says which layers turn nothing: those with a 0 in no_rope_layers, else every
// no_rope_layer_interval-th.
var noRope = setting{
	names: []string{"no_rope_layers", "no_rope_layer_interval"},
	read: func(f *fields, c *Config) {
		c.NoRope = make([]bool, c.Layers)
		if list := values[int](f, "no_rope_layers"); list != nil {
			if len(list) != c.Layers {
				f.fail("%w: no_rope_layers has %d entries for %d layers", ErrConfig, len(list), c.Layers)
				return
			}
			for l := range list {
				c.NoRope[l] = list[l] == 0
			}
			return
		}
		every := value(f, "no_rope_layer_interval", 4)
		if every < 1 {
			f.fail("%w: no_rope_layer_interval is %d, want 1 or more", ErrConfig, every)
			return
		}
		for l := range c.NoRope {
			c.NoRope[l] = (l+1)%every == 0
		}
	},
	write: func(c *Config, out map[string]any) {
		list := make([]int, c.Layers)
		for l := range list {
			if !c.NoRope[l] {
				list[l] = 1
			}
		}
		out["no_rope_layers"] = list
	},
}

// positive reads a factor.
func (f *fields) positive(name string, def float64) float64 {
	x := value(f, name, def)
	if !(x >= 1e-9 && x <= 1e9) {
		f.fail("%w: %s is %g, want more than 0", ErrConfig, name, x)
		return 1
	}
	return x
}

// orNone reads a positive number, null for none; def is for a field that is not there.
func (f *fields) orNone(name string, def float64) float64 {
	if _, there := f.raw[name]; there && !f.has(name) || !there && def == 0 {
		return 0
	}
	return f.positive(name, def)
}

// numberOrNull is what orNone reads as x.
func numberOrNull(x float64) any {
	if x == 0 {
		return nil
	}
	return x
}
