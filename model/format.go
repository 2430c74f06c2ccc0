package model

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// storedNames are the types as config.json spells them.
var storedNames = map[DType]string{F32: "float32", F16: "float16", BF16: "bfloat16"}

// JSON writes the configuration as a config.json that ParseConfig and the Hugging
// Face libraries read: what Transformers 5 has renamed is there under the names of
// Transformers 4, too, and says the same, of weights that are floats. It wraps ErrUnsupported
// when config.json has no words for the configuration.
func (c *Config) JSON() ([]byte, error) {
	if c.Rope.FreqDivisors != nil {
		return nil, fmt.Errorf("%w: config.json cannot hold frequency divisors of a GGUF file", ErrUnsupported)
	}
	row := c.row()
	if row == nil {
		return nil, fmt.Errorf("%w: family %.80q is not known", ErrUnsupported, c.Family)
	}
	fields := map[string]any{
		"architectures":           []string{row.architecture},
		"model_type":              row.name,
		"vocab_size":              c.Vocab,
		"hidden_size":             c.Hidden,
		"intermediate_size":       c.Intermediate,
		"num_hidden_layers":       c.Layers,
		"num_attention_heads":     c.Heads,
		"num_key_value_heads":     c.KVHeads,
		"head_dim":                c.HeadDim,
		"hidden_act":              "silu",
		"max_position_embeddings": c.MaxPosition,
		"rms_norm_eps":            shortest(c.NormEps),
		"tie_word_embeddings":     c.TiedHead,
		"rope_parameters":         c.ropeFields(),
		"rope_theta":              c.Rope.Theta,
		"rope_scaling":            c.Rope.scaling(),
		"bos_token_id":            nil,
		"eos_token_id":            c.EOS,
	}
	for i := range row.settings {
		if write := row.settings[i].write; write != nil {
			write(c, fields)
		}
	}
	if c.SlidingRope != nil {
		fields["rope_local_base_freq"] = c.SlidingRope.Theta
	}
	if c.BOS >= 0 {
		fields["bos_token_id"] = c.BOS
	}
	if name, ok := storedNames[c.Stored]; ok {
		fields["dtype"], fields["torch_dtype"] = name, name
	}
	return json.MarshalIndent(fields, "", "  ")
}

// ropeFields are the settings of all layers, by their kinds where these differ.
func (c *Config) ropeFields() map[string]any {
	if c.SlidingRope != nil {
		byType := map[string]any{typeNames[Full]: c.Rope.fields(), typeNames[Sliding]: c.SlidingRope.fields()}
		if c.Rope.Kind == RopeYarn || c.SlidingRope.Kind == RopeYarn {
			byType["truncate"] = c.Rope.Truncate || c.SlidingRope.Truncate // of both that are yarn
		}
		return byType
	}
	f := c.Rope.fields()
	if c.RotaryDim > 0 {
		f["partial_rotary_factor"] = float64(c.RotaryDim) / float64(c.HeadDim)
	}
	return f
}

// fields are the settings as rope_parameters has them.
func (r *Rope) fields() map[string]any {
	f := map[string]any{"rope_type": r.Kind, "rope_theta": r.Theta}
	if r.Kind != RopeDefault {
		f["factor"] = r.Factor
	}
	switch r.Kind {
	case RopeLlama3:
		f[originalMaxPosition] = r.OriginalMaxPosition
		f["low_freq_factor"] = r.LowFreqFactor
		f["high_freq_factor"] = r.HighFreqFactor
	case RopeYarn:
		f[originalMaxPosition] = r.OriginalMaxPosition
		f["beta_fast"] = r.BetaFast
		f["beta_slow"] = r.BetaSlow
		f["truncate"] = r.Truncate
		for name, v := range map[string]float64{"attention_factor": r.AttentionFactor, "mscale": r.MScale, "mscale_all_dim": r.MScaleAll} {
			if v != 0 { // 0: computed
				f[name] = v
			}
		}
	}
	return f
}

// scaling are the settings as rope_scaling has them, which knows neither the default
// kind nor the base.
func (r *Rope) scaling() map[string]any {
	if r.Kind == RopeDefault {
		return nil
	}
	f := r.fields()
	delete(f, "rope_theta")
	return f
}

// shortest is the number with the fewest digits that is x as a float32, for an x
// that was one, as those of GGUF files; else x.
func shortest(x float64) float64 {
	if float64(float32(x)) != x {
		return x
	}
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', -1, 32), 64)
	if err != nil { // what is no number has no other spelling
		return x
	}
	return y
}
