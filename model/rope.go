package model

import (
	"fmt"
	"slices"
)

// ropeFields are the settings of each kind of rotary embedding, besides its
// name, rope_theta and partial_rotary_factor.
var ropeFields = map[RopeKind][]string{
	RopeDefault: {},
	RopeLinear:  {"factor"},
	RopeLlama3:  {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"},
	RopeYarn: {"factor", "original_max_position_embeddings", "beta_fast", "beta_slow", "attention_factor",
		"mscale", "mscale_all_dim", "truncate", "finetuned"},
}

// rope reads rope_parameters (Transformers 5) or rope_theta and rope_scaling (before), where
// "type" is an older word for "rope_type". As in the reference, rope_scaling goes before
// rope_parameters where a file has both. partial: a part of a head may be turned.
func (f *fields) rope(theta float64, maxPosition int, partial bool) Rope {
	theta = value(f, "rope_theta", theta)
	object := f.ropeObject()
	if f.err != nil || object == "" {
		return Rope{Kind: RopeDefault, Theta: theta}
	}
	return f.ropeIn(object, f.raw[object], theta, maxPosition, partial)
}

// ropeObject is the field that has the settings; "": none.
func (f *fields) ropeObject() string {
	for _, name := range []string{"rope_scaling", "rope_parameters"} {
		if f.has(name) {
			return name
		}
	}
	return ""
}

// ropeIn reads one from an object, which is called so in errors.
func (f *fields) ropeIn(name string, js []byte, theta float64, maxPosition int, partial bool) Rope {
	r := newFields(js)
	rope := ropeOf(r, theta, maxPosition)
	if p := value(r, "partial_rotary_factor", 1.0); p != 1 && !partial {
		r.fail("%w: partial_rotary_factor %g is not implemented", ErrUnsupported, p)
	}
	if r.err != nil {
		f.fail("%s: %w", name, r.err)
	}
	return rope
}

func ropeOf(r *fields, theta float64, maxPosition int) Rope {
	kind := RopeKind(value(r, "rope_type", value(r, "type", string(RopeDefault))))
	known, ok := ropeFields[kind]
	if !ok {
		r.fail("%w: rope type %.80q is not known", ErrUnsupported, string(kind))
		return Rope{}
	}
	names := make([]string, 0, len(r.raw))
	for name := range r.raw {
		names = append(names, name)
	}
	slices.Sort(names) // the same message every time
	for _, name := range names {
		common := name == "rope_type" || name == "type" || name == "rope_theta" || name == "partial_rotary_factor"
		if !common && !slices.Contains(known, name) && r.has(name) {
			r.fail("%w: rope setting %.80q of type %q is not known", ErrUnsupported, name, kind)
		}
	}
	rope := Rope{Kind: kind, Theta: value(r, "rope_theta", theta)}
	if slices.Contains(known, "factor") {
		rope.Factor = value(r, "factor", 0.0)
	}
	if slices.Contains(known, "original_max_position_embeddings") {
		rope.OriginalMaxPosition = value(r, "original_max_position_embeddings", maxPosition)
	}
	switch kind {
	case RopeLlama3:
		rope.LowFreqFactor = value(r, "low_freq_factor", 0.0)
		rope.HighFreqFactor = value(r, "high_freq_factor", 0.0)
	case RopeYarn:
		rope.BetaFast = value(r, "beta_fast", 32.0)
		rope.BetaSlow = value(r, "beta_slow", 1.0)
		rope.AttentionFactor = value(r, "attention_factor", 0.0)
		rope.MScale = value(r, "mscale", 0.0)
		rope.MScaleAll = value(r, "mscale_all_dim", 0.0)
		rope.Truncate = value(r, "truncate", true)
	}
	return rope
}

// validate checks the numbers of a rotary embedding over so many dimensions of a head.
func (r *Rope) validate(dim int) error {
	bad := func(name string, v float64) error {
		return fmt.Errorf("%w: rope %s of type %q is %g", ErrConfig, name, r.Kind, v)
	}
	if _, ok := ropeFields[r.Kind]; !ok {
		return fmt.Errorf("%w: rope type %.80q is not known", ErrUnsupported, string(r.Kind))
	}
	if !(r.Theta > 1 && r.Theta <= 1e12) {
		return bad("theta", r.Theta)
	}
	if r.Kind != RopeDefault && !(r.Factor > 0 && r.Factor <= 1e6) {
		return bad("factor", r.Factor)
	}
	if (r.Kind == RopeLlama3 || r.Kind == RopeYarn) && (r.OriginalMaxPosition < 1 || r.OriginalMaxPosition > maxContext) {
		return bad("original_max_position_embeddings", float64(r.OriginalMaxPosition))
	}
	if r.Kind == RopeLlama3 && !(r.LowFreqFactor > 0 && r.HighFreqFactor > r.LowFreqFactor && r.HighFreqFactor < 1e6) {
		return bad("high_freq_factor", r.HighFreqFactor)
	}
	if r.Kind == RopeYarn {
		if err := r.validateYarn(bad); err != nil {
			return err
		}
	}
	if n := len(r.FreqDivisors); n != 0 && n != dim/2 {
		return fmt.Errorf("%w: %d rope frequency divisors, want %d", ErrConfig, n, dim/2)
	}
	for _, d := range r.FreqDivisors {
		if !(d > 0 && d <= 1e12) {
			return bad("frequency divisor", float64(d))
		}
	}
	return nil
}

func (r *Rope) validateYarn(bad func(string, float64) error) error {
	switch {
	case !(r.BetaSlow > 0 && r.BetaSlow <= 1e6):
		return bad("beta_slow", r.BetaSlow)
	case !(r.BetaFast >= r.BetaSlow && r.BetaFast <= 1e6):
		return bad("beta_fast", r.BetaFast)
	case !(r.AttentionFactor >= 0 && r.AttentionFactor <= 1e3):
		return bad("attention_factor", r.AttentionFactor)
	case !(r.MScale >= 0 && r.MScale <= 1e3):
		return bad("mscale", r.MScale)
	case !(r.MScaleAll >= 0 && r.MScaleAll <= 1e3):
		return bad("mscale_all_dim", r.MScaleAll)
	}
	return nil
}
